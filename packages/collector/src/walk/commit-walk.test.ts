/** How far a walk over commits goes: a table of cases, and random histories against what is reachable in truth. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginCommitWalk, type CommitPage, type CommitWalk, stepCommitWalk } from './commit-walk.ts'
import { fanOut } from './fan-out.ts'

const page = (shas: string, more: Partial<CommitPage> = {}): CommitPage => ({
  commits: shas.split('').map((sha) => ({ sha })),
  hasNext: true,
  ...more,
})
const known = (shas: string) => (sha: string) => shas.includes(sha)
const old = { head: 'a', total: 3 }

test.each([
  ['stops when the old head and as many new ones as the totals differ by were seen', old, page('yxa', { total: 5 }), 'grown'],
  ['goes deeper when one is missing behind the old head: it was merged late', old, page('yxa', { total: 6 }), 'go on'],
  ['goes on while the old head was not seen, although the number fits', old, page('yx', { total: 5 }), 'go on'],
  ['ends at the end of the list', undefined, page('yx', { total: 2, hasNext: false }), 'whole'],
  [
    'calls nothing gone when the list is shorter than its own count',
    undefined,
    page('yx', { total: 3, hasNext: false }),
    'short',
  ],
  ['never stops early when nothing is known', undefined, page('yxa', { total: 5 }), 'go on'],
])('[C-06] a walk %s', (_, from, seen, type) => {
  expect(stepCommitWalk(beginCommitWalk('y', from), seen, known('abc')).type).toBe(type)
})

test('[C-06] without totals a walk stops when every parent of a new commit is known or seen, and the old head is one of them', () => {
  const merged = {
    commits: [
      { sha: 'm', parents: ['a', 'l'] },
      { sha: 'a', parents: ['b'] },
    ],
    hasNext: true,
  }
  const first = stepCommitWalk(beginCommitWalk('m', old), merged, known('abc'))
  expect(first).toMatchObject({ type: 'go on', walk: { open: ['l'], seenOld: true } })
  const late = {
    commits: [
      { sha: 'b', parents: ['c'] },
      { sha: 'l', parents: ['c'] },
    ],
    hasNext: true,
  }
  expect(stepCommitWalk((first as { walk: CommitWalk }).walk, late, known('abcm'))).toEqual({ type: 'grown', total: 5 })
})

/** A repository of one branch, whose commits are numbered as they are made; `date` orders lists and may be older than the parents. */
class Repository {
  readonly commits: { sha: string; parents: string[]; date: number }[] = []
  head = ''

  add(parents: string[], date: number): string {
    const sha = `c${this.commits.length}`
    this.commits.push({ sha, parents, date })
    return sha
  }

  /** As git lists: by date, but nobody before its children. */
  list(head: string): { sha: string; parents: string[] }[] {
    const reached = this.reach(head)
    const waits = new Map([...reached].map((sha) => [sha, 0]))
    for (const sha of reached) for (const parent of this.find(sha).parents) waits.set(parent, (waits.get(parent) ?? 0) + 1)
    const ready = [head]
    const listed: { sha: string; parents: string[] }[] = []
    while (ready.length > 0) {
      ready.sort((a, b) => this.find(b).date - this.find(a).date || a.localeCompare(b))
      const next = this.find(ready.shift() as string)
      listed.push(next)
      for (const parent of next.parents) {
        waits.set(parent, (waits.get(parent) ?? 0) - 1)
        if (waits.get(parent) === 0) ready.push(parent)
      }
    }
    return listed
  }

  reach(head: string): Set<string> {
    const reached = new Set<string>()
    const stack = [head]
    for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
      if (reached.has(sha)) continue
      reached.add(sha)
      stack.push(...this.find(sha).parents)
    }
    return reached
  }

  find(sha: string) {
    return this.commits[Number(sha.slice(1))] as { sha: string; parents: string[]; date: number }
  }
}

const deed = fc.oneof(
  fc.record({ type: fc.constant('push' as const), n: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant('late merge' as const), n: fc.integer({ min: 1, max: 3 }), back: fc.nat(30) }),
  fc.record({ type: fc.constant('force push' as const), drop: fc.integer({ min: 1, max: 5 }), n: fc.nat(3) }),
)
const round = fc.record({
  deeds: fc.array(deed, { maxLength: 3 }),
  pageSize: fc.integer({ min: 1, max: 7 }),
  /** The walk dies after so many pages. */
  diesAfter: fc.option(fc.nat(3), { nil: undefined, freq: 4 }),
})

function act(repository: Repository, todo: typeof deed extends fc.Arbitrary<infer D> ? D : never, now: number): void {
  const ancestor = (steps: number): string => {
    let at = repository.head
    for (let step = 0; step < steps; step++) at = repository.find(at).parents[0] ?? at
    return at
  }
  const grow = (from: string, n: number, date: number): string => {
    let at = from
    for (let made = 0; made < n; made++) at = repository.add([at], date + made / 10)
    return at
  }
  if (todo.type === 'push') repository.head = grow(repository.head, todo.n, now)
  else if (todo.type === 'late merge') {
    const branch = grow(ancestor(todo.back % 6), todo.n, now - todo.back)
    repository.head = repository.add([repository.head, branch], now)
  } else repository.head = grow(ancestor(todo.drop), todo.n, now)
}

test.each(['totals', 'parents'] as const)(
  '[C-06] whatever is pushed, merged late or pushed away, and wherever walks die: a finished walk leaves what is reachable (by %s)',
  (told) => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 12 }), (rounds) => {
        const repository = new Repository()
        repository.head = repository.add([], 0)
        const stored = new Map<string, { walk: number; gone: boolean }>()
        const isKnown = (sha: string): boolean => stored.get(sha)?.gone === false
        let mark: { since: null; place: string | null; head: string | null; total: number | null } | undefined
        for (const [at, { deeds, pageSize, diesAfter }] of rounds.entries()) {
          for (const todo of deeds) act(repository, todo, (at + 1) * 10)
          const sight = { head: repository.head, issues: undefined, pulls: undefined }
          const wanted = fanOut(sight, { commits: mark, issues: undefined, pulls: undefined }, { overlapMs: 0 }).commits
          if (wanted) {
            const list = repository.list(wanted.head)
            let walk = beginCommitWalk(wanted.head, wanted.old)
            for (let from = 0, pages = 0; ; from += pageSize, pages++) {
              if (pages === diesAfter) break
              const commits = list.slice(from, from + pageSize)
              const total = told === 'totals' ? list.length : undefined
              const step = stepCommitWalk(walk, { commits, total, hasNext: from + pageSize < list.length }, isKnown)
              for (const { sha } of commits) stored.set(sha, { walk: at, gone: false })
              mark = { since: null, head: null, total: null, ...mark, place: 'under way' }
              if (step.type === 'go on') {
                walk = step.walk
                continue
              }
              if (step.type === 'whole') for (const row of stored.values()) if (row.walk < at) row.gone = true
              mark = { ...mark, place: null, head: wanted.head, total: step.total }
              break
            }
          }
          if (!mark || mark.place !== null || mark.head !== repository.head) continue
          const live = [...stored].filter(([, { gone }]) => !gone).map(([sha]) => sha)
          expect(live.toSorted()).toEqual([...repository.reach(repository.head)].toSorted())
          expect(mark.total).toBe(live.length)
        }
      }),
      { numRuns: 300 },
    )
  },
)
