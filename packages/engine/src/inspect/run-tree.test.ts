/** The tree of a run, how far it is, and when it will end. */
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { done, fail } from '../job/outcome.ts'
import { defineRun } from '../run/run-kind.ts'
import { expectEnd } from './run-progress.ts'

const leaf = defineKind('leaf', {
  payload: z.object({ n: z.number() }),
  run: ({ payload }) => (payload.n === 3 ? fail(new Error('leaf 3 is rotten')) : done()),
})
const branch = defineKind('branch', {
  payload: z.object({ n: z.number() }),
  run: ({ payload }) => done({ next: [1, 2].map((n) => leaf({ n: payload.n * 2 + n })) }),
})
const grow = defineRun('grow', {
  plan: () => done({ next: [0, 1].map((n) => branch({ n })) }),
  finalize: () => {},
})

test('[O-05] the tree of a run has its jobs, parents before children, the finalizer last', async ({ engines }) => {
  const engine = engines({ kinds: [leaf, branch], runs: [grow] })
  await engine.start()
  const { id } = await engine.runs.start(grow({}))
  const run = await eventually(async () => {
    const found = await engine.runs.find(id)
    return found?.state === 'completed' ? found : undefined
  })
  const { items, next } = await engine.inspect.runTree(id)
  expect(next).toBeUndefined()
  expect(items.map(({ kind }) => kind)).toEqual(['grow', 'branch', 'branch', 'leaf', 'leaf', 'leaf', 'leaf', 'grow.finalize'])
  const seen = new Set<number>()
  for (const job of items) {
    expect(job.parent === null || seen.has(job.parent)).toBe(true)
    seen.add(job.id)
  }
  expect(items[0]!.id).toBe(run.rootJob)
  expect(items.at(-1)!.id).toBe(run.finalizerJob)
  expect(items.filter(({ state }) => state === 'failed')).toMatchObject([
    { kind: 'leaf', error: { message: 'leaf 3 is rotten' } },
  ])
  const pieces = []
  for (let cursor: string | undefined; ; ) {
    const page = await engine.inspect.runTree(id, { limit: 3, ...(cursor === undefined ? {} : { cursor }) })
    pieces.push(page.items)
    cursor = page.next
    if (cursor === undefined) break
  }
  expect(pieces.map((piece) => piece.length)).toEqual([3, 3, 2])
  expect(pieces.flat()).toEqual(items)
  expect(await engine.inspect.runTree(id + 100)).toEqual({ items: [], next: undefined })
})

test('[O-03] [O-05] a run and its trees are whole when strangers came between its jobs, all of them finished', async ({
  engines,
  client,
}) => {
  const stranger = defineKind('stranger', { payload: z.object({ n: z.number() }), run: () => {} })
  const report = defineKind('report', { payload: z.object({ n: z.number() }), run: () => {} })
  const busy = defineRun('busy', {
    plan: () => done({ next: Array.from({ length: 300 }, (_, n) => (n < 10 ? branch({ n: n + 10 }) : leaf({ n: n + 10 }))) }),
    finalize: () => done({ next: [1, 2, 3].map((n) => report({ n })) }),
  })
  const engine = engines({ kinds: [leaf, branch, stranger, report], runs: [busy] })
  await engine.start()
  const started = await Promise.all(['a', 'b', 'c'].map((owner) => engine.runs.start(busy({}, { owner }))))
  for (let at = 0; at < 20; at++) await engine.enqueueMany(Array.from({ length: 50 }, (_, n) => stranger({ n: at * 50 + n })))
  await eventually(async () => {
    const { rows } = await client.query('select count(*)::int as jobs from sluice.job')
    return rows[0].jobs === 0
  })
  const whole = async (filter: { run: number } | { tree: number }): Promise<number[]> => {
    const found = []
    for (let cursor: string | undefined; ; ) {
      const page = await engine.inspect.jobs(filter, { limit: 70, ...(cursor === undefined ? {} : { cursor }) })
      found.push(...page.items)
      cursor = page.next
      if (cursor === undefined) return found.map(({ id }) => id)
    }
  }
  const truth = async (where: string, value: number): Promise<number[]> => {
    const { rows } = await client.query(`select id::int from sluice.job_ledger where ${where} order by id desc`, [value])
    return rows.map(({ id }) => id)
  }
  for (const { id } of started) {
    const { rootJob, finalizerJob } = (await engine.runs.find(id))!
    const all = await truth('run = $1', id)
    expect(all).toHaveLength(1 + 300 + 20 + 1 + 3)
    expect(await whole({ run: id })).toEqual(all)
    expect(await whole({ tree: rootJob })).toEqual(await truth('$1 in (id, root)', rootJob))
    expect(await whole({ tree: finalizerJob! })).toEqual(await truth('$1 in (id, root)', finalizerJob!))
    const tree = []
    for (let cursor: string | undefined; ; ) {
      const page = await engine.inspect.runTree(id, { limit: 70, ...(cursor === undefined ? {} : { cursor }) })
      tree.push(...page.items)
      cursor = page.next
      if (cursor === undefined) break
    }
    expect(tree.map((job) => job.id)).toEqual(all.toReversed())
    // All but the finalizer.
    expect(await engine.inspect.runProgress(id)).toMatchObject({ done: 1, looked: { rows: 324, until: undefined } })
  }
  const { rows } = await client.query(
    'select count(*)::int as entries from sluice.job_ledger where root is not null and (run is null or parent <> root)',
  )
  expect(rows[0].entries).toBe(3 * 20)
})

test('[O-05] the progress of a run counts its jobs by kind and state', async ({ engines, client }) => {
  const engine = engines({ kinds: [leaf, branch], runs: [grow] })
  await engine.start()
  await engine.pause({ scope: 'kind', name: 'leaf' })
  const { id } = await engine.runs.start(grow({}))
  await eventually(
    async () => (await client.query(`select from sluice.job where kind = 'leaf' and shelf = 'paused'`)).rowCount === 4,
  )
  const half = await engine.inspect.runProgress(id)
  expect(half).toMatchObject({
    run: { id, state: 'running', total: 7, pending: 4 },
    kinds: [
      { kind: 'branch', states: { succeeded: 2 } },
      { kind: 'grow', states: { succeeded: 1 } },
      { kind: 'leaf', states: { paused: 4 } },
    ],
    looked: { rows: 7, until: undefined },
  })
  expect(half!.done).toBeCloseTo(3 / 7)
  expect(half!.expectedEnd!.getTime()).toBeGreaterThan(half!.run.createdAt.getTime())
  await engine.resume({ scope: 'kind', name: 'leaf' })
  await eventually(async () => (await engine.runs.find(id))?.state === 'completed')
  expect(await engine.inspect.runProgress(id)).toMatchObject({
    done: 1,
    expectedEnd: undefined,
    kinds: [
      { kind: 'branch', states: { succeeded: 2 } },
      { kind: 'grow', states: { succeeded: 1 } },
      { kind: 'leaf', states: { succeeded: 3, failed: 1 } },
    ],
  })
  expect(await engine.inspect.runProgress(id + 100)).toBeUndefined()
})

test.for([
  ['half done after a minute takes another', { elapsedMs: 60_000, total: 10, pending: 5 }, 60_000],
  ['a tenth done takes nine times as long', { elapsedMs: 1_000, total: 100, pending: 90 }, 9_000],
  ['nothing ended: nobody knows', { elapsedMs: 1_000, total: 10, pending: 10 }, undefined],
  ['nothing left: nothing to expect', { elapsedMs: 1_000, total: 10, pending: 0 }, undefined],
  ['no time has passed: nobody knows', { elapsedMs: 0, total: 10, pending: 1 }, undefined],
] as const)('[O-05] the expected end: %s', ([_name, { elapsedMs, total, pending }, aheadMs]) => {
  const now = new Date(1_800_000_000_000)
  const end = expectEnd({ now, createdAt: new Date(now.getTime() - elapsedMs), total, pending })
  expect(end && end.getTime() - now.getTime()).toBe(aheadMs)
})
