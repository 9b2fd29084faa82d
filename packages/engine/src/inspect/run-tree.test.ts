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

test('[O-05] the progress of a run counts its jobs by kind and state', async ({ engines, client }) => {
  const engine = engines({ kinds: [leaf, branch], runs: [grow] })
  await engine.start()
  await engine.pause({ scope: 'kind', name: 'leaf' })
  const { id } = await engine.runs.start(grow({}))
  await eventually(
    async () => (await client.query(`select from sluice.job where kind = 'leaf' and state = 'paused'`)).rowCount === 4,
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
