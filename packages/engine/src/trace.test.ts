/** Traces on a real database: from enqueue to run to child, over processes, retries, events and runs. */
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { afterEach, expect } from 'vitest'
import { eventually, test } from '../../../test/support/database.ts'
import { startTracing, type Tracing } from '../../../test/support/tracing.ts'
import { defineEvent, defineKind, defineRun, delays, done, fail } from './index.ts'

const given = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
let tracing: Tracing | undefined

afterEach(async () => {
  await tracing?.stop()
  tracing = undefined
})

const named = (name: string, spans = tracing?.spans() ?? []): ReadableSpan[] => spans.filter((span) => span.name === name)
const seen = (name: string, count = 1) => eventually(() => named(name).length >= count && named(name))
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId
const traceOf = (span: ReadableSpan | undefined) => span?.spanContext().traceId
const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId

test('[O-07] enqueue, run and child are one trace, each the parent of the next', async ({ engines }) => {
  tracing = startTracing()
  const child = defineKind('child', { run: () => {} })
  const parent = defineKind('parent', { run: async () => done({ next: [child({})] }) })
  const engine = engines({ kinds: [parent, child] })
  await engine.start()
  const tracer = trace.getTracer('caller')
  const { id } = await tracer.startActiveSpan('request', async (span) => {
    const made = await engine.enqueue(parent({}))
    span.end()
    return made
  })
  // The child may have ended before the process heard that its parent's commit went through.
  const [[grandchild]] = [await seen('run child'), await seen('run parent')]
  const [[request], [sent], [ran]] = [named('request'), named('enqueue parent'), named('run parent')]
  expect([sent, ran, grandchild].map(parentOf)).toEqual([request, sent, ran].map(idOf))
  expect(new Set([request, sent, ran, grandchild].map(traceOf)).size).toBe(1)
  expect(sent).toMatchObject({
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system': 'sluice',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'parent',
      'messaging.message.id': String(id),
    },
  })
  expect(ran).toMatchObject({
    kind: SpanKind.CONSUMER,
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      'messaging.operation.type': 'process',
      'sluice.job.id': id,
      'sluice.job.kind': 'parent',
      'sluice.job.attempt': 1,
      'sluice.job.outcome': 'done',
    },
  })
})

test('[O-07] a trace goes on in another process, through a retry, and the error is on its span', async ({ engines }) => {
  tracing = startTracing()
  const flaky = defineKind('flaky', {
    retry: delays([1]),
    run: ({ attempt }) => {
      if (attempt === 1) throw Object.assign(new Error('not yet'), { code: 'TOO_SOON' })
    },
  })
  const [sender, worker] = [engines({ kinds: [flaky] }), engines({ kinds: [flaky] })]
  await worker.start()
  await sender.enqueue(flaky({}))
  const attemptOf = (span: ReadableSpan): number => Number(span.attributes['sluice.job.attempt'])
  const [first, second] = (await seen('run flaky', 2)).toSorted((a, b) => attemptOf(a) - attemptOf(b))
  const [sent] = named('enqueue flaky')
  expect([first, second].map(parentOf)).toEqual([idOf(sent), idOf(sent)])
  expect([first, second].map((span) => span?.attributes['sluice.job.attempt'])).toEqual([1, 2])
  expect(first).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: 'not yet' },
    attributes: { 'sluice.job.outcome': 'retry', 'error.type': 'TOO_SOON' },
    events: [{ name: 'exception', attributes: { 'exception.message': 'not yet' } }],
  })
  expect(second?.attributes['sluice.job.outcome']).toBe('done')
})

test('[O-07] a handler and what it writes run inside its span', async ({ engines }) => {
  tracing = startTracing()
  const tracer = trace.getTracer('handler')
  const inner = async (name: string): Promise<void> => {
    await Promise.resolve()
    tracer.startSpan(name).end()
  }
  const job = defineKind('job', {
    run: async () => {
      await inner('call')
      return done({ write: () => inner('write') })
    },
  })
  const engine = engines({ kinds: [job] })
  await engine.start()
  await engine.enqueue(job({}))
  const [[written]] = [await seen('write'), await seen('run job')]
  const [[call], [ran]] = [named('call'), named('run job')]
  expect([call, written].map(parentOf)).toEqual([idOf(ran), idOf(ran)])
})

test('[O-07] events and the finalizer of a run carry the trace on', async ({ engines }) => {
  tracing = startTracing()
  const told = defineEvent('told')
  const subscriber = defineKind('subscriber', { on: [told], run: () => {} })
  const teller = defineKind('teller', { run: () => done({ publish: [told({})] }) })
  const sweep = defineRun('sweep', { plan: () => done({ next: [teller({})] }), finalize: () => {} })
  const engine = engines({ kinds: [subscriber, teller], runs: [sweep], events: [told] })
  await engine.start()
  await engine.publish(told({}))
  const [heard] = await seen('run subscriber')
  expect(parentOf(heard)).toBe(idOf(named('publish told')[0]))
  await engine.runs.start(sweep({}))
  const spans = await eventually(() => {
    const all = tracing?.spans() ?? []
    const others = [named('run sweep', all), named('run teller', all)].every((spans) => spans.length === 1)
    return others && all.some(({ name }) => name.startsWith('run sweep.')) && named('run subscriber', all).length === 2 && all
  })
  const [started] = named('start sweep', spans)
  const [planned, tellerRan] = [named('run sweep', spans)[0], named('run teller', spans)[0]]
  const finalized = spans.find(({ name }) => name.startsWith('run sweep.'))
  expect([planned, tellerRan, named('run subscriber', spans)[1], finalized].map(parentOf)).toEqual(
    [started, planned, tellerRan, started].map(idOf),
  )
})

test('[O-07] jobs that come together share a span, in every way they can be stored', async ({ engines, client }) => {
  tracing = startTracing()
  const one = defineKind('one', { run: () => {} })
  const two = defineKind('two', { dedupe: 'keep', run: () => {} })
  const engine = engines({ kinds: [one, two] })
  const alike = await engine.enqueueMany([one({ n: 1 }), one({ n: 2 })])
  const mixed = await engine.enqueueMany([one({}), two({}, { priority: 3 })])
  await client.query('begin')
  const mine = await engine.enqueue(two({ n: 4 }), { client })
  await client.query('commit')
  const at = async (id: number | undefined) => (await engine.find(id ?? 0))?.trace?.split('-').slice(1, 3).join()
  const of = (span: ReadableSpan | undefined) => [traceOf(span), idOf(span)].join()
  for (const { id } of alike) expect(await at(id)).toBe(of(named('enqueue one')[0]))
  for (const { id } of mixed) expect(await at(id)).toBe(of(named('enqueue jobs')[0]))
  expect(await at(mine.id)).toBe(of(named('enqueue two')[0]))
  expect(named('enqueue one')[0]?.attributes['messaging.batch.message_count']).toBe(2)
})

test('[O-07] an enqueue that is refused leaves a span with the error', async ({ engines }) => {
  tracing = startTracing()
  const engine = engines({})
  await expect(engine.enqueue({ kind: 'stranger', payload: {} })).rejects.toThrow(/stranger/)
  expect(named('enqueue stranger')).toMatchObject([
    { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'UNKNOWN_KIND' } },
  ])
})

test('[O-07] without an SDK a trace that comes in is carried on as it is: to the ledger, to children, to events', async ({
  engines,
  client,
}) => {
  const told = defineEvent('told')
  const child = defineKind('child', { run: () => {} })
  const subscriber = defineKind('subscriber', { on: [told], run: () => fail('stay') })
  const parent = defineKind('parent', { run: () => done({ next: [child({})], publish: [told({})] }) })
  const engine = engines({ kinds: [parent, child, subscriber], events: [told] })
  await engine.start()
  const typed = await engine.enqueue(parent({}, { trace: given }))
  const { rows } = await client.query(`select id from sluice.enqueue('child', trace => $1)`, [given])
  const plain = await engine.enqueue(child({ plain: true }))
  const traces = await eventually(async () => {
    const found = await client.query('select kind, trace from sluice.job_ledger union all select kind, trace from sluice.job')
    return found.rows.length === 5 && found.rows.every((row) => row.kind) && found.rows
  })
  const carried: string[] = traces.filter((row) => row.trace === given).map((row) => row.kind)
  expect(carried.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['child', 'child', 'parent', 'subscriber'])
  expect((await engine.find(typed.id))?.trace).toBe(given)
  expect((await engine.find(Number(rows[0].id)))?.trace).toBe(given)
  expect((await engine.find(plain.id))?.trace).toBeNull()
})

test('[O-07] an SDK that throws costs its spans, not the job', async ({ engines }) => {
  const broken = (): never => {
    throw new Error('exporter gone')
  }
  tracing = startTracing({ onStart: broken, onEnd: broken, forceFlush: async () => {}, shutdown: async () => {} })
  const job = defineKind('job', { run: async () => {} })
  const engine = engines({ kinds: [job] })
  await engine.start()
  const { id } = await engine.enqueue(job({}))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
})

test('[O-07] what is no traceparent is refused, in TypeScript and in SQL', async ({ engines, client }) => {
  const job = defineKind('job', { run: () => {} })
  const engine = engines({ kinds: [job] })
  for (const bad of ['nonsense', '00-00000000000000000000000000000000-00f067aa0ba902b7-01', given.toUpperCase(), `${given}0`])
    await expect(engine.enqueue(job({}, { trace: bad }))).rejects.toThrow(/trace/)
  const sweep = defineRun('sweep', { plan: () => {} })
  await expect(engine.runs.start(sweep({}), { trace: 'nonsense' })).rejects.toThrow(/trace/)
  await expect(client.query(`select sluice.enqueue('job', trace => 'nonsense')`)).rejects.toThrow(/traceparent/)
  await expect(client.query(`select sluice.publish('told', trace => 'nonsense')`)).rejects.toThrow(/traceparent/)
})
