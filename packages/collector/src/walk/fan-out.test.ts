/** Which lists are read: told from what discovery saw and what the last walks left. */
import { expect, test } from 'vitest'
import { fanOut, type Mark, type Sight } from './fan-out.ts'

const looked = new Date('2026-01-10T00:00:00Z')
const overlapMs = 600_000
const since = new Date(looked.getTime() - overlapMs)
const mark = (more: Partial<Mark> = {}): Mark => ({ since, place: null, head: null, total: null, ...more })
const quiet = { count: 7, newestAt: '2026-01-05T00:00:00Z' }
const sight = (more: Partial<Sight> = {}): Sight => ({ head: 'a', commits: 3, issues: quiet, pulls: quiet, ...more })
const marks = {
  commits: mark({ head: 'a', total: 3 }),
  issues: mark({ head: quiet.newestAt }),
  pulls: mark({ head: quiet.newestAt }),
}
const decide = (seen: Sight, known: Parameters<typeof fanOut>[1] = marks, start?: Date) =>
  fanOut(seen, known, { overlapMs, start })

test('[C-05] a repository in which nothing changed is not read at all', () => {
  expect(decide(sight())).toEqual({ commits: undefined, issues: undefined, pulls: undefined })
})

test('[C-04] one that nobody read yet is read whole, and what is empty is not asked for', () => {
  const unread = { commits: undefined, issues: undefined, pulls: undefined }
  const empty = { count: 0, newestAt: null }
  expect(decide(sight({ pulls: empty }), unread)).toEqual({
    commits: { head: 'a', old: undefined, expected: 3 },
    issues: { since: undefined, newestAt: quiet.newestAt, expected: 7 },
    pulls: undefined,
  })
  expect(decide(sight({ head: null, issues: empty, pulls: empty }), unread)).toEqual({
    commits: undefined,
    issues: undefined,
    pulls: undefined,
  })
})

test('[C-04] commits are read when the head is another one, from what is known', () => {
  expect(decide(sight({ head: 'b', commits: 5 })).commits).toEqual({ head: 'b', old: { head: 'a', total: 3 }, expected: 3 })
})

test('[C-05] a walk that broke off is done again in full, also when the head is back where it was', () => {
  const broken = { ...marks, commits: mark({ head: 'a', total: 3, place: '7' }) }
  expect(decide(sight(), broken).commits).toEqual({ head: 'a', old: undefined, expected: 3 })
})

test('[C-04] issues are read when their newest update is another one, from where the last walk began', () => {
  const changed = { count: 8, newestAt: '2026-01-11T00:00:00Z' }
  expect(decide(sight({ issues: changed })).issues).toEqual({
    since: since.toISOString(),
    newestAt: changed.newestAt,
    expected: 8,
  })
})

test('[C-06] an update in the second in which the last walk looked is looked at again', () => {
  const now = { count: 7, newestAt: '2026-01-09T23:59:59Z' }
  expect(decide(sight({ issues: now }), { ...marks, issues: mark({ head: now.newestAt }) }).issues).toBeDefined()
})

test('[C-02] an earlier start reads further back, a later one never skips anything', () => {
  const changed = sight({ issues: { count: 8, newestAt: '2026-01-11T00:00:00Z' } })
  expect(decide(changed, marks, new Date('2026-01-01T00:00:00Z')).issues?.since).toBe('2026-01-01T00:00:00.000Z')
  expect(decide(changed, marks, new Date('2026-01-10T12:00:00Z')).issues?.since).toBe(since.toISOString())
})

test('[C-04] what discovery could not see is read', () => {
  expect(decide(sight({ issues: undefined })).issues).toEqual({ since: since.toISOString(), newestAt: null, expected: undefined })
})
