/** Runs: one start, one completion, whatever happens to their jobs in between. */
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import type { Engine } from '../engine.ts'
import { defineKind } from '../job/kind.ts'
import { done, fail, type Outcome } from '../job/outcome.ts'
import { once } from '../job/retry.ts'
import { defineRun, type RunSummary } from './run-kind.ts'
import type { Run } from './runs.ts'

const page = defineKind('page', {
  payload: z.object({ n: z.number(), bad: z.boolean().optional() }),
  run: ({ payload }) => (payload.bad ? fail(new Error('no such page')) : done()),
})

function collect(summaries: RunSummary<{ pages: number; bad: number }>[], finalize: () => void = () => {}) {
  return defineRun('collect', {
    payload: z.object({ pages: z.number(), bad: z.number().default(0) }),
    plan: ({ payload }) =>
      done({
        next: Array.from({ length: payload.pages }, (_, n) => page(n < payload.bad ? { n, bad: true } : { n })),
      }),
    retry: once,
    finalize: ({ payload }) => {
      finalize()
      summaries.push(payload)
    },
  })
}

const ended = (engine: Engine, id: number): Promise<Run> =>
  eventually(async () => {
    const run = await engine.runs.find(id)
    return run?.finishedAt ? run : undefined
  })

test('[E-15] a program waits for the end of a run, whichever process works on it, and hears how it ended', async ({
  engines,
}) => {
  const [run, slow] = [collect([]), defineRun('slow', { plan: () => done({ next: [page({ n: 1 }, { delay: '1h' })] }) })]
  const [works, waits, idle] = [engines({ kinds: [page], runs: [run, slow] }), engines({ pools: {} }), engines({})]
  const [first, second] = await Promise.all([works.runs.start(run({ pages: 3, bad: 1 })), works.runs.start(slow({}))])
  await waits.start()
  const told = [waits.runs.ended(first.id), idle.runs.ended(first.id), works.runs.ended(first.id)]
  const stopped = waits.runs.ended(second.id)
  await works.start()
  for (const one of await Promise.all(told))
    expect(one).toMatchObject({ id: first.id, state: 'completed', succeeded: 3, failed: 1 })
  expect(await waits.runs.ended(first.id)).toMatchObject({ state: 'completed' }) // also afterwards
  await works.runs.cancel(second.id)
  expect(await stopped).toMatchObject({ state: 'canceled' })
  await expect(idle.runs.ended(999_999)).rejects.toMatchObject({
    code: 'UNKNOWN_RUN',
    message: expect.stringContaining('999999'),
  })
  const { id } = await works.runs.start(slow({}))
  const late = idle.runs.ended(id)
  await idle.stop()
  await expect(late).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test('[E-15] a run completes once, when its last job has ended, and its finalizer knows how', async ({ engines }) => {
  const summaries: RunSummary<{ pages: number; bad: number }>[] = []
  const run = collect(summaries)
  const engine = engines({ kinds: [page], runs: [run] })
  await engine.start()
  const { id } = await engine.runs.start(run({ pages: 50, bad: 3 }, { owner: 'ann' }), { trigger: 'test' })
  expect(await ended(engine, id)).toMatchObject({
    state: 'completed',
    trigger: 'test',
    owner: 'ann',
    total: 51,
    pending: 0,
    succeeded: 48,
    failed: 3,
  })
  expect(summaries).toEqual([{ run: id, payload: { pages: 50, bad: 3 }, total: 51, succeeded: 48, failed: 3, canceled: 0 }])
})

test('[E-15] a run without children completes too, with and without a finalizer', async ({ engines }) => {
  const summaries: RunSummary<{ pages: number; bad: number }>[] = []
  const withEnd = collect(summaries)
  const bare = defineRun('bare', { plan: () => {} })
  const engine = engines({ kinds: [page], runs: [withEnd, bare] })
  await engine.start()
  const first = await engine.runs.start(withEnd({ pages: 0 }))
  const second = await engine.runs.start(bare({}))
  expect(await ended(engine, first.id)).toMatchObject({ state: 'completed', total: 1, succeeded: 1 })
  expect(await ended(engine, second.id)).toMatchObject({ state: 'completed', finalizerJob: null })
  expect(summaries).toHaveLength(1)
})

test('[E-15] a second start is a conflict that names the run under way; another owner may start', async ({ engines }) => {
  const run = collect([])
  const engine = engines({ kinds: [page], runs: [run] })
  const first = await engine.runs.start(run({ pages: 1 }, { owner: 'ann' }))
  await expect(engine.runs.start(run({ pages: 1 }, { owner: 'ann' }))).rejects.toMatchObject({
    code: 'RUN_ACTIVE',
    details: { run: first.id },
  })
  await engine.runs.start(run({ pages: 1 }, { owner: 'bob' }))
  expect(await engine.runs.list({ kind: 'collect' })).toHaveLength(2)
})

test('[E-15] a dead finalizer fails the run, and retrying it can still complete it', async ({ engines }) => {
  let broken = true
  const run = collect([], () => {
    if (broken) throw new Error('no disk')
  })
  const engine = engines({ kinds: [page], runs: [run] })
  await engine.start()
  const { id } = await engine.runs.start(run({ pages: 2 }))
  expect(await ended(engine, id)).toMatchObject({ state: 'failed', succeeded: 3, error: { message: 'no disk' } })
  broken = false
  expect(await engine.runs.retryFailed(id)).toBe(1)
  expect(await ended(engine, id)).toMatchObject({ state: 'completed', succeeded: 3, error: null })
})

test('[E-15] a dead root fails the run, and retrying it brings the run back', async ({ engines }) => {
  let broken = true
  const run = defineRun('fragile', { plan: () => (broken ? fail(new Error('no plan')) : done({ next: [page({ n: 1 })] })) })
  const engine = engines({ kinds: [page], runs: [run] })
  await engine.start()
  const { id } = await engine.runs.start(run({}))
  const dead = await ended(engine, id)
  expect(dead).toMatchObject({ state: 'failed', failed: 1, error: { message: 'no plan' } })
  broken = false
  expect(await engine.runs.retryFailed(id)).toBe(1)
  expect(await ended(engine, id)).toMatchObject({ state: 'completed', total: 2, succeeded: 2, failed: 0, error: null })
})

test('[E-22] canceling a run stops all of its jobs and lets it end once', async ({ engines, client }) => {
  const started: AbortSignal[] = []
  const slow = defineKind('slow', {
    run: ({ signal }) =>
      new Promise<void>((_, reject) => {
        started.push(signal)
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      }),
  })
  const run = defineRun('long', { plan: () => done({ next: Array.from({ length: 30 }, (_, n) => slow({ n })) }) })
  const engine = engines({ kinds: [slow], runs: [run] })
  await engine.start()
  const { id } = await engine.runs.start(run({}))
  await eventually(() => started.length === 10)
  expect(await engine.runs.cancel(id, 'not wanted')).toBe('canceled')
  expect(await engine.runs.cancel(id)).toBe('not active')
  await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
  expect(await engine.runs.find(id)).toMatchObject({ state: 'canceled', total: 31, pending: 0, succeeded: 1, canceled: 30 })
})

test('[E-15] a run that is given up ends as failed with the reason, its jobs stop, and its owner may start again', async ({
  engines,
}) => {
  const run = collect([])
  const engine = engines({ kinds: [page], runs: [run] })
  const { id } = await engine.runs.start(run({ pages: 3 }, { owner: 'ann' }))
  expect(await engine.runs.fail(id, 'no token for 7 days')).toBe('failed')
  expect(await engine.runs.fail(id, 'again')).toBe('not active')
  expect(await engine.runs.find(id)).toMatchObject({ state: 'failed', pending: 0, error: { message: 'no token for 7 days' } })
  const next = await engine.runs.start(run({ pages: 3 }, { owner: 'ann' }))
  await engine.start()
  expect(await ended(engine, next.id)).toMatchObject({ state: 'completed', succeeded: 4 })
  expect((await engine.events.list({})).filter(({ type }) => type === 'run.failed')).toHaveLength(1)
})

test('[E-05] once per run: a key is never walked twice, not even when the first job has finished', async ({ engines }) => {
  const walked: number[] = []
  const step = defineKind('step', {
    payload: z.object({ n: z.number() }),
    run: ({ payload }): Outcome => {
      walked.push(payload.n)
      const next = [1, 2].map((by) => step({ n: payload.n + by }, { dedupe: 'once', key: String(payload.n + by) }))
      return payload.n < 10 ? done({ next }) : done()
    },
  })
  const run = defineRun('walk', { plan: () => done({ next: [step({ n: 0 })] }) })
  const engine = engines({ kinds: [step], runs: [run] })
  await engine.start()
  const { id } = await engine.runs.start(run({}))
  expect(await ended(engine, id)).toMatchObject({ state: 'completed', total: 13 })
  expect(walked.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

test('[E-24] runs past keeping go with their keys; one whose failed job may be retried stays', async ({ engines, client }) => {
  const run = collect([])
  const engine = engines({ kinds: [page], runs: [run], keepDays: 3_000 }) // what it prunes by itself is left out
  await engine.start()
  const good = await engine.runs.start(run({ pages: 1 }, { owner: 'ann' }))
  const bad = await engine.runs.start(run({ pages: 1, bad: 1 }, { owner: 'bob' }))
  for (const { id } of [good, bad]) await ended(engine, id)
  await client.query(`update sluice.run set finished_at = now() - interval '8 days'`)
  await client.query(`insert into sluice.run_key (run, key, job) select id, 'k', 1 from sluice.run`)
  const { rows } = await client.query(`select sluice.prune_runs(term, 7, 100) as gone from sluice.leader`)
  expect(rows).toEqual([{ gone: 1 }])
  expect(await engine.runs.find(good.id)).toBeUndefined()
  expect(await engine.runs.find(bad.id)).toMatchObject({ state: 'completed', failed: 1 })
  expect((await client.query('select run::int from sluice.run_key')).rows).toEqual([{ run: bad.id }])
})

test('[E-15] a run of another process is started by its name, finalizer included', async ({ engines }) => {
  const summaries: RunSummary<{ pages: number; bad: number }>[] = []
  const worker = engines({ kinds: [page], runs: [collect(summaries)] })
  await worker.start()
  const stranger = engines()
  const { id } = await stranger.runs.start({ kind: 'collect', payload: { pages: 2, bad: 0 } })
  expect(await ended(worker, id)).toMatchObject({ state: 'completed', total: 3 })
  expect(summaries).toHaveLength(1)
  await expect(stranger.runs.start({ kind: 'nobody.knows', payload: {} })).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
})

test('[E-15] the plan and the finalizer of a run are no jobs of their own', async ({ engines, client }) => {
  const sweep = defineRun('sweep', { plan: () => {}, finalize: () => {} })
  const engine = engines({ runs: [sweep] })
  await engine.migrate()
  for (const kind of ['sweep', 'sweep.finalize']) {
    const message = expect.stringContaining(`"${kind}" belongs to a run and is no job by itself`)
    await expect(engine.enqueue({ kind, payload: {} })).rejects.toMatchObject({ message: expect.any(String) })
    await expect(client.query('select sluice.enqueue($1)', [kind])).rejects.toMatchObject({ code: 'SL002', message })
  }
  expect((await client.query('select from sluice.job')).rowCount).toBe(0)
})

test('[E-15] what is no run is not started, and a run is no job: each error says what to do', async ({ engines }) => {
  const collect = defineRun('collect', { plan: () => done() })
  const engine = engines({ runs: [collect] })
  const start = (given: unknown) => engine.runs.start(given as ReturnType<typeof collect>)
  await expect(start(collect)).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringMatching(/call a run/) })
  await expect(start({ payload: {} })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(/call a run/),
  })
  await expect(engine.enqueue(collect({}) as never)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(/is a run and no job; start it: engine\.runs\.start/),
  })
})
