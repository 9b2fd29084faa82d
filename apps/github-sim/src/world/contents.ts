/**
 * What is inside the repositories: histories, issues and pull requests, each generated when first asked for.
 *
 * A world of 200,000 repositories would not fit if everything stayed, so beyond `commitsMax` commits the oldest half of what
 * is untouched is forgotten; it comes back the same from the seed. What churn has touched is kept.
 */
import { generateCommits } from './generate-commits.ts'
import { generateItems, type Items } from './generate-items.ts'
import { logOrder, reachableFrom } from './history.ts'
import type { Commit } from './model.ts'
import type { RepoPlan } from './plan.ts'

const commitsMax = 200_000
const itemsMax = 200_000
/** What a history weighs besides its commits, in commits. */
const historyWeight = 5
const ordersMax = 4
/** From this size on, a history is worth being remembered longer than others. */
const largeMin = 1000

interface History {
  readonly commits: Map<string, Commit>
  /** By head: walks that began before a push go on in their own order. */
  orders: Map<string, Commit[]> | undefined
  reaches: Map<string, Set<string>> | undefined
  readonly firstHead: string | null
  kept: boolean
}

export class Contents {
  readonly #seed: number
  readonly #plans = new Map<number, RepoPlan>()
  readonly #histories = new Map<number, History>()
  readonly #items = new Map<number, Items & { kept: boolean }>()
  #commits = 0
  #itemCount = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  plan(repoId: number): RepoPlan | undefined {
    return this.#plans.get(repoId)
  }

  addPlan(plan: RepoPlan): void {
    this.#plans.set(plan.repoId, plan)
  }

  firstHead(repoId: number): string | null {
    return this.#history(repoId).firstHead
  }

  order(repoId: number, head: string | null): Commit[] {
    if (head === null) return []
    const history = this.#history(repoId)
    const { commits } = history
    history.orders ??= new Map()
    return remember(history.orders, head, () => logOrder((sha) => commits.get(sha), head))
  }

  reach(repoId: number, sha: string): Set<string> {
    const history = this.#history(repoId)
    const { commits } = history
    history.reaches ??= new Map()
    return remember(history.reaches, sha, () => reachableFrom((other) => commits.get(other), sha))
  }

  commit(repoId: number, sha: string): Commit | undefined {
    return this.#history(repoId).commits.get(sha)
  }

  /** All that were ever there, reachable or not, in no order. */
  shas(repoId: number): Iterable<string> {
    return this.#history(repoId).commits.keys()
  }

  addCommits(repoId: number, commits: readonly Commit[]): void {
    const history = this.#history(repoId)
    history.kept = true
    for (const commit of commits) history.commits.set(commit.sha, commit)
  }

  items(repoId: number): Items {
    return this.#itemsOf(repoId)
  }

  /** The same, for one who is about to change them. */
  keptItems(repoId: number): Items {
    const items = this.#itemsOf(repoId)
    items.kept = true
    return items
  }

  #history(repoId: number): History {
    const known = this.#histories.get(repoId)
    if (known) {
      if (known.commits.size >= largeMin) touch(this.#histories, repoId, known)
      return known
    }
    const plan = this.#plans.get(repoId)
    const made = plan ? generateCommits(this.#seed, plan) : []
    const history: History = {
      commits: new Map(made.map((commit) => [commit.sha, commit])),
      orders: undefined,
      reaches: undefined,
      firstHead: made.at(-1)?.sha ?? null,
      kept: false,
    }
    this.#histories.set(repoId, history)
    this.#commits += made.length + historyWeight
    if (this.#commits > commitsMax) this.#forgetHistories(repoId)
    return history
  }

  #itemsOf(repoId: number): Items & { kept: boolean } {
    const known = this.#items.get(repoId)
    if (known) return known
    const plan = this.#plans.get(repoId)
    const made = plan ? generateItems(this.#seed, plan) : { issues: [], pulls: [], nextNumber: 1 }
    const items = Object.assign(made, { kept: false })
    this.#items.set(repoId, items)
    this.#itemCount += items.nextNumber
    if (this.#itemCount > itemsMax) this.#forgetItems(repoId)
    return items
  }

  // Half at a time: a map from whose front single entries are taken becomes slow.

  #forgetHistories(except: number): void {
    for (const [id, old] of this.#histories) {
      if (this.#commits <= commitsMax / 2) break
      if (old.kept || id === except) continue
      this.#histories.delete(id)
      this.#commits -= old.commits.size + historyWeight
    }
  }

  #forgetItems(except: number): void {
    for (const [id, old] of this.#items) {
      if (this.#itemCount <= itemsMax / 2) break
      if (old.kept || id === except) continue
      this.#items.delete(id)
      this.#itemCount -= old.nextNumber
    }
  }
}

/** A map keeps the order of insertion, so moving an entry to the end makes it the last to be forgotten. */
function touch<T>(map: Map<number, T>, key: number, value: T): void {
  map.delete(key)
  map.set(key, value)
}

function remember<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  if (map.size >= ordersMax) map.delete(map.keys().next().value ?? '')
  map.set(key, made)
  return made
}
