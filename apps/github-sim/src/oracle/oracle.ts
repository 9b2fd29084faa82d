/**
 * The oracle: a log of every request that reached the simulator, and the sums that benches are judged by.
 *
 * It also knows when an account was told to wait. A request that arrives before that time is over counts as sent while
 * limited, unless it was on its way when the answer left; `graceMs` allows for that.
 */
import { createHash } from 'node:crypto'

export interface OracleEntry {
  readonly n: number
  readonly at: number
  readonly account: number | null
  /** The beginning of the token's hash. */
  readonly token8: string | null
  readonly resource: string
  readonly method: string
  readonly path: string
  /** The name of the GraphQL operation. */
  readonly operation: string | null
  /** The same for two requests that ask for the same, word for word: a hash of method, path and body. */
  readonly call: string
  readonly status: number
  readonly units: number
  readonly etagHit: boolean
  /** Requests of the same account that were being answered when this one came, itself included. */
  readonly inFlight: number
}

export type Seen = Omit<OracleEntry, 'n'> & {
  readonly overBudget: boolean
  readonly sentWhileLimited: boolean
  readonly afterRevocation: boolean
}

export interface OracleSummary {
  readonly requests: number
  readonly units: number
  readonly byResource: Readonly<Record<string, number>>
  readonly byOperation: Readonly<Record<string, number>>
  readonly overBudget: number
  readonly sentWhileLimited: number
  readonly afterRevocation: number
  readonly perAccount: Readonly<Record<string, { requests: number; units: number }>>
}

const entriesMax = 500_000
const graceMs = 100

const blank = () => ({
  requests: 0,
  units: 0,
  byResource: {} as Record<string, number>,
  byOperation: {} as Record<string, number>,
  overBudget: 0,
  sentWhileLimited: 0,
  afterRevocation: 0,
  perAccount: {} as Record<string, { requests: number; units: number }>,
})

export class Oracle {
  #entries: OracleEntry[] = []
  #sums = blank()
  #n = 0
  readonly #waits = new Map<string, { since: number; until: number }>()
  readonly #refused = new Set<string>()

  record(seen: Seen): void {
    const { overBudget, sentWhileLimited, afterRevocation, ...entry } = seen
    const sums = this.#sums
    sums.requests++
    sums.units += entry.units
    sums.byResource[entry.resource] = (sums.byResource[entry.resource] ?? 0) + entry.units
    const operation = entry.operation ?? templateOf(entry.path)
    sums.byOperation[operation] = (sums.byOperation[operation] ?? 0) + 1
    if (overBudget) sums.overBudget++
    if (sentWhileLimited) sums.sentWhileLimited++
    if (afterRevocation) sums.afterRevocation++
    const account = (sums.perAccount[entry.account ?? 'anonymous'] ??= { requests: 0, units: 0 })
    account.requests++
    account.units += entry.units
    this.#entries.push({ n: ++this.#n, ...entry })
    if (this.#entries.length > 2 * entriesMax) this.#entries = this.#entries.slice(-entriesMax)
  }

  /** Those after a number, oldest first; the newest half million are kept. */
  entries(since = 0): readonly OracleEntry[] {
    return this.#entries.filter(({ n }) => n > since)
  }

  summary(): OracleSummary {
    return structuredClone(this.#sums)
  }

  reset(): void {
    this.#entries = []
    this.#sums = blank()
  }

  /** Somebody was told to wait; `scope` is a resource, or `all` for a secondary limit. */
  tellToWait(payer: number | string, scope: string, now: number, until: number): void {
    const known = this.#waits.get(`${payer} ${scope}`)
    if (!known || known.until <= now) this.#waits.set(`${payer} ${scope}`, { since: now, until })
  }

  isWaiting(payer: number | string, resource: string, now: number): boolean {
    return [resource, 'all'].some((scope) => {
      const wait = this.#waits.get(`${payer} ${scope}`)
      return wait !== undefined && now > wait.since + graceMs && now < wait.until
    })
  }

  /** Notes whether a token was refused, and says if it had been before; once it is good again, that is forgotten. */
  isRefusedAgain(token: string | undefined, refused: boolean): boolean {
    if (token === undefined) return false
    const before = this.#refused.has(token)
    if (refused) this.#refused.add(token)
    else if (before) this.#refused.delete(token)
    return refused && before
  }
}

/** Long enough that a million calls have a million of them. */
export const fingerprint = (call: string) => createHash('sha256').update(call).digest('base64url').slice(0, 16)

export const hash8 = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 8)

/** A path with its numbers and shas taken out, so that calls of one kind are counted together. */
function templateOf(path: string): string {
  return path
    .replace(/\?.*$/, '')
    .replace(/\/[0-9a-f]{40}/g, '/:sha')
    .replace(/\/\d+(?=\/|$)/g, '/:id')
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/:owner/:repo')
    .replace(/^\/users\/[^/]+/, '/users/:login')
}
