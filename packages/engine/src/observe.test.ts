/** What an engine tells its observer, on a real database: each fact once, by whoever saw it happen. */
import { expect } from 'vitest'
import { eventually, test } from '../../../test/support/database.ts'
import {
  createEngine,
  defineEvent,
  defineKind,
  defineRun,
  defineSchedule,
  delays,
  done,
  type Fact,
  fail,
  once,
  silentLog,
  snooze,
} from './index.ts'

const of = <T extends Fact['type']>(facts: readonly Fact[], type: T): (Fact & { type: T })[] =>
  facts.filter((fact): fact is Fact & { type: T } => fact.type === type)

test('[O-07] a job is told from enqueue to end, with its waiting and running time, and so are its children', async ({
  engines,
}) => {
  const facts: Fact[] = []
  const heard = defineEvent('heard')
  const child = defineKind('child', { run: () => {} })
  const parent = defineKind('parent', { priority: 3, run: async () => done({ next: [child({})], publish: [heard({})] }) })
  const engine = engines({ kinds: [parent, child], events: [heard], observe: (fact) => facts.push(fact) })
  await engine.start()
  const { id } = await engine.enqueue(parent({}))
  await eventually(() => of(facts, 'job.ended').length === 2 && of(facts, 'event.published').length === 1)
  expect(of(facts, 'job.enqueued').toSorted((a, b) => a.job - b.job)).toMatchObject([
    { job: id, kind: 'parent', created: true },
    { kind: 'child', created: true },
  ])
  expect(of(facts, 'job.started')).toMatchObject([{ job: id, kind: 'parent', attempt: 1 }, { kind: 'child' }])
  // A wrong unit or a forgotten priority would be minutes off.
  for (const { waitedMs } of of(facts, 'job.started')) expect(waitedMs).toBeLessThan(60_000)
  // The child may have ended before the process heard that its parent's commit went through.
  expect(of(facts, 'job.ended').toSorted((a, b) => a.job - b.job)).toMatchObject([
    { job: id, kind: 'parent', attempt: 1, outcome: 'done', ranMs: expect.any(Number), error: undefined },
    { kind: 'child', outcome: 'done' },
  ])
  expect(of(facts, 'event.published')).toMatchObject([{ event: 'heard', id: expect.any(Number) }])
  expect(of(facts, 'leader.changed')).toMatchObject([{ leads: true }])
  await engine.stop()
  expect(of(facts, 'leader.changed').map(({ leads }) => leads)).toEqual([true, false])
})

test('[O-07] every way to end is told as what it was: retried, snoozed, failed, deduplicated', async ({ engines }) => {
  const facts: Fact[] = []
  const flaky = defineKind('flaky', {
    retry: delays([100]),
    run: ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('not yet')) : done()),
  })
  let naps = 0
  const sleepy = defineKind('sleepy', { dedupe: 'keep', run: () => (naps++ === 0 ? snooze(1) : done()) })
  const bad = defineKind('bad', { retry: once, run: () => fail(Object.assign(new Error('no'), { code: 'NOPE' })) })
  const engine = engines({ kinds: [flaky, sleepy, bad], observe: (fact) => facts.push(fact) })
  await engine.enqueueMany([flaky({}), bad({}), sleepy({})])
  await engine.enqueue(sleepy({}))
  await engine.start()
  await eventually(() => of(facts, 'job.ended').length === 5)
  const ends = of(facts, 'job.ended').map(({ kind, outcome, attempt, error }) => [kind, attempt, outcome, error?.message])
  expect(ends.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
    ['bad', 1, 'failed', 'no'],
    ['flaky', 1, 'retry', 'not yet'],
    ['flaky', 2, 'done', undefined],
    ['sleepy', 1, 'done', undefined],
    ['sleepy', 1, 'snooze', undefined],
  ])
  expect(of(facts, 'job.ended').find(({ kind }) => kind === 'bad')?.error).toEqual({ code: 'NOPE', message: 'no' })
  expect(of(facts, 'job.enqueued').map(({ created }) => created)).toEqual([true, true, true, false])
  await eventually(() => of(facts, 'promoter.promoted').reduce((sum, { jobs }) => sum + jobs, 0) === 2)
  expect(of(facts, 'promoter.slept').length).toBeGreaterThan(0)
})

test('[O-07] jobs of a process that is gone are told as rescued, with their ids', async ({ engines, client }) => {
  const facts: Fact[] = []
  const job = defineKind('job', { run: () => {} })
  const engine = engines({ kinds: [job], observe: (fact) => facts.push(fact) })
  const { id } = await engine.enqueue(job({}))
  await client.query(`
    insert into sluice.worker (id, name, lease_until) values (999, 'gone:1', '-infinity');
    update sluice.job set worker = 999, attempt = 1, fence = 5`)
  await engine.start()
  const [rescued] = await eventually(() => of(facts, 'job.rescued').length > 0 && of(facts, 'job.rescued'))
  expect(rescued).toEqual({ type: 'job.rescued', rescued: 1, failed: 0, jobs: [id], workers: ['gone:1'] })
  await eventually(() => of(facts, 'job.ended').some(({ outcome }) => outcome === 'done'))
})

test('[O-07] a lane that a server holds, and one that is held by hand, are told', async ({ engines }) => {
  const facts: Fact[] = []
  const until = new Date(Date.now() + 60_000)
  const call = defineKind('call', { lane: 'api', run: ({ report }) => report({ holdUntil: until }) })
  const engine = engines({ kinds: [call], observe: (fact) => facts.push(fact) })
  await engine.start()
  const { id } = await engine.enqueue(call({}))
  await eventually(() => of(facts, 'lane.held').length === 1)
  await engine.lanes.hold('other', until)
  expect(of(facts, 'lane.held')).toEqual([
    { type: 'lane.held', lane: 'api', until, reason: 'server', job: id },
    { type: 'lane.held', lane: 'other', until, reason: 'by hand', job: undefined },
  ])
})

test('[O-07] the end of a run is told once, however many processes there are', async ({ engines }) => {
  const facts: Fact[] = []
  const part = defineKind('part', { run: () => {} })
  const sweep = defineRun('sweep', { plan: () => done({ next: [part({ n: 1 }), part({ n: 2 })] }) })
  const shared = { kinds: [part], runs: [sweep], observe: (fact: Fact) => void facts.push(fact) }
  const [one, two] = [engines(shared), engines(shared)]
  await Promise.all([one.start(), two.start()])
  const run = await one.runs.start(sweep({}))
  await eventually(() => of(facts, 'run.ended').length > 0)
  const second = await one.runs.start(sweep({}))
  await eventually(() => of(facts, 'run.ended').length > 1)
  expect(of(facts, 'run.ended')).toMatchObject([
    { run: run.id, kind: 'sweep', state: 'completed', succeeded: 3, failed: 0 },
    { run: second.id, state: 'completed' },
  ])
})

test('[O-07] of runs that end together each is told', async ({ engines }) => {
  const facts: Fact[] = []
  const sweep = defineRun('sweep', { plan: () => {} })
  const engine = engines({ runs: [sweep], observe: (fact: Fact) => void facts.push(fact) })
  await engine.start()
  const owners = [...Array.from({ length: 40 }, (_, at) => `owner ${at}`), `a:b "${'\u{1F600}\n'.repeat(60)}`]
  const started = await Promise.all(owners.map((owner) => engine.runs.start(sweep({}, { owner }))))
  const told = await eventually(() => of(facts, 'run.ended').length >= owners.length && of(facts, 'run.ended'))
  expect(told.map(({ run }) => run).toSorted((a, b) => a - b)).toEqual(started.map(({ id }) => id).toSorted((a, b) => a - b))
  expect(new Set(told.map(({ owner }) => owner))).toEqual(new Set(owners))
})

test('[O-07] a schedule that fires is told', async ({ engines, client }) => {
  const facts: Fact[] = []
  const tick = defineKind('tick', { run: () => {} })
  const engine = engines({
    kinds: [tick],
    schedules: [defineSchedule('hourly', { cron: '0 * * * *', job: tick({}) })],
    observe: (fact) => facts.push(fact),
  })
  await engine.start()
  await eventually(async () => (await engine.schedules.show('hourly')).nextAt !== null)
  await client.query(`update sluice.schedule set next_at = sluice.now() - interval '1 s'`)
  await eventually(() => of(facts, 'schedule.fired').length > 0)
  expect(of(facts, 'schedule.fired')[0]).toMatchObject({ schedule: 'hourly', jobs: 1, missed: 0 })
})

test('[O-07] an observer that throws hurts no job and is complained about once', async ({ database }) => {
  const complaints: string[] = []
  const job = defineKind('job', { run: () => {} })
  const log = { ...silentLog, error: (event: string) => void complaints.push(event) }
  const observe = (): never => {
    throw new Error('no room')
  }
  const engine = createEngine({ database: database.url, kinds: [job], log, observe })
  await engine.start()
  const made = await engine.enqueueMany([job({}), job({}), job({})])
  for (const { id } of made) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  await engine.stop()
  expect(complaints).toHaveLength(1)
})

test('[O-07] what observes must be a function', ({ engines }) => {
  expect(() => engines({ observe: 'me' as never })).toThrow(/observe/)
})
