/** The executor never throws: whatever a handler does, throws or returns, and however late, becomes a verdict. */
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Claim } from '../dispatch/claim.ts'
import type { JobContext } from '../job/context.ts'
import { type AnyKind, defineKind, type KindDefinition } from '../job/kind.ts'
import { done, fail, snooze } from '../job/outcome.ts'
import { delays } from '../job/retry.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { execute } from './executor.ts'
import type { Verdict } from './judge.ts'
import { StopSwitch } from './stop-switch.ts'

type Run = NonNullable<KindDefinition<z.ZodObject, unknown>['run']>

const kindOf = (run: Run, rest: object = {}): AnyKind => defineKind('x', { run, retry: delays(['1s', '1s']), ...rest })
const claim: Claim = {
  id: 7,
  fence: 1,
  kind: 'x',
  payload: '{"a":1}',
  attempt: 1,
  maxAttempts: 3,
  crashes: 0,
  rank: 0,
  priority: 0,
  trace: undefined,
  owner: 'ann',
  root: undefined,
  createdAtMs: 1_000,
  run: undefined,
  event: undefined,
  lane: undefined,
}

async function attempt(
  kind: AnyKind,
  { stop = new StopSwitch(), clock = new HandClock(), payload = claim.payload } = {},
): Promise<Verdict> {
  const compute = async (_: AnyKind, input: unknown): Promise<unknown> => ({ computed: input })
  const deps = { services: { name: 'services' }, clock, random: () => 0, log: () => {}, compute }
  return execute({ claim: { ...claim, payload }, stop }, kind, deps)
}

test('[E-10] a handler that returns nothing is done, whether it waits or not', async () => {
  await expect(attempt(kindOf(() => {}))).resolves.toEqual({ outcome: 'done' })
  await expect(attempt(kindOf(async () => {}))).resolves.toEqual({ outcome: 'done' })
})

test('[E-10] an outcome is taken as it is', async () => {
  await expect(attempt(kindOf(() => snooze('1s')))).resolves.toEqual({ outcome: 'snooze', delayMs: 1_000 })
  await expect(attempt(kindOf(async () => fail('no')))).resolves.toEqual({ outcome: 'failed', error: { message: 'no' } })
})

test('[E-10] throwing means retry, at once or after a while', async () => {
  const thrown = {
    outcome: 'retry',
    delayMs: 1_000,
    error: { message: 'boom', stack: expect.stringContaining('executor.test.ts') },
  }
  const boom = (): never => {
    throw new Error('boom')
  }
  await expect(attempt(kindOf(boom))).resolves.toEqual(thrown)
  await expect(attempt(kindOf(async () => boom()))).resolves.toEqual(thrown)
})

test('a handler gets its job, and the services as its second argument', async () => {
  const run = vi.fn<(context: JobContext<unknown>, services: unknown) => void>()
  await attempt(kindOf(run))
  const [context, services] = run.mock.calls[0] ?? []
  expect(context).toMatchObject({ id: 7, kind: 'x', payload: { a: 1 }, owner: 'ann', attempt: 1, maxAttempts: 3 })
  expect(context).toMatchObject({ createdAt: new Date(1_000), idempotencyKey: 'sluice-job-7', signal: { aborted: false } })
  expect(services).toEqual({ name: 'services' })
})

test('compute gets the payload unless it is given something else', async () => {
  const answers: unknown[] = []
  const kind = kindOf(async ({ compute }) => void answers.push(await compute(), await compute(null), await compute(5)))
  await attempt(kind)
  expect(answers).toEqual([{ computed: { a: 1 } }, { computed: null }, { computed: 5 }])
})

test('[E-01] a payload that no longer fits its schema fails the job without running it', async () => {
  const run = vi.fn()
  const kind = kindOf(run, { payload: z.object({ a: z.string() }) })
  await expect(attempt(kind)).resolves.toMatchObject({ outcome: 'failed', error: { code: 'INVALID_PAYLOAD' } })
  await expect(attempt(kind, { payload: '{"a":' })).resolves.toMatchObject({ outcome: 'failed' })
  expect(run).not.toHaveBeenCalled()
})

test('a schema that throws by itself fails the job without stopping the loop', async () => {
  const mean = z.object({ a: z.number().refine(() => JSON.parse('{')) })
  await expect(attempt(kindOf(() => {}, { payload: mean }))).resolves.toMatchObject({ outcome: 'failed' })
})

describe('[E-10] a handler that returns something else is tried again, with an error that shows what it returned', () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  test.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['a number', 5, '5'],
    ['a text', 'done', '"done"'],
    ['an object', { ok: true }, '{"ok":true}'],
    ['an outcome of an unknown type', { type: 'finished' }, '{"type":"finished"}'],
    ['a maker that was not called', done, 'function'],
    ['a bigint', 1n, 'bigint'],
    ['a circular object', circular, 'object'],
  ])('%s', async (_, value, shown) => {
    for (const run of [() => value, async () => value])
      await expect(attempt(kindOf(run as Run))).resolves.toMatchObject({
        outcome: 'retry',
        error: { code: 'INVALID_OUTCOME', message: expect.stringContaining(`returned ${shown}.`) },
      })
  })
})

test('a handler may return a promise of another library', async () => {
  // oxlint-disable-next-line unicorn/no-thenable -- the very thing under test
  const thenable = { then: (resolve: (value: unknown) => void) => resolve(done()) }
  await expect(attempt(kindOf((() => thenable) as unknown as Run))).resolves.toEqual({ outcome: 'done' })
})

test('an error that cannot be read is tried again like any other', async () => {
  const error = Object.defineProperty(new Error('x'), 'message', { get: () => JSON.parse('{') })
  await expect(attempt(kindOf(async () => Promise.reject(error)))).resolves.toMatchObject({ outcome: 'retry' })
})

test('[E-29] a handler that runs past its limit is told by its signal, left behind, and counts as an attempt', async () => {
  const clock = new HandClock()
  const stop = new StopSwitch()
  const verdict = attempt(
    kindOf(() => new Promise(() => {}), { timeout: '5s' }),
    { clock, stop },
  )
  clock.turn(4_999)
  expect(stop.signal.aborted).toBe(false)
  clock.turn(1)
  expect(stop.signal.reason).toMatchObject({ code: 'HANDLER_TIMED_OUT' })
  await expect(verdict).resolves.toMatchObject({ outcome: 'retry', error: { code: 'HANDLER_TIMED_OUT' } })
})

test('[E-29] what a handler does after its limit changes nothing', async () => {
  const clock = new HandClock()
  let end: (() => void) | undefined
  let started: () => void = () => {}
  const running = new Promise<void>((resolve) => {
    started = resolve
  })
  const late = kindOf(
    () => {
      started()
      return new Promise((_, reject) => {
        end = () => reject(new Error('too late'))
      })
    },
    { timeout: '5s' },
  )
  const verdict = attempt(late, { clock })
  await running
  clock.turn(5_000)
  end?.()
  await expect(verdict).resolves.toMatchObject({ error: { code: 'HANDLER_TIMED_OUT' } })
})

test('[E-29] a handler that ends in time leaves no timer behind, well or badly', async () => {
  const clock = new HandClock()
  const after = vi.spyOn(clock, 'after')
  await attempt(
    kindOf(async () => {}),
    { clock },
  )
  await attempt(
    kindOf(async () => Promise.reject(new Error('x'))),
    { clock },
  )
  const stop = new StopSwitch()
  clock.turn(3_600_000)
  expect(after).toHaveBeenCalledTimes(2)
  expect(stop.signal.aborted).toBe(false)
})

describe('[E-22] a handler whose job was canceled', () => {
  const hears = kindOf(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  )
  test('and that gives up is stopped, and the table says whether it is canceled', async () => {
    const stop = new StopSwitch()
    const verdict = attempt(hears, { stop })
    stop.abort('canceled')
    await expect(verdict).resolves.toEqual({ outcome: 'stopped', started: true })
  })

  test('and that finishes all the same is done', async () => {
    const stop = new StopSwitch()
    const verdict = attempt(
      kindOf(async () => done()),
      { stop },
    )
    stop.abort('canceled')
    await expect(verdict).resolves.toEqual({ outcome: 'done' })
  })

  test.each(['shutdown', 'lease lost'])('but for another reason (%s) is tried again', async (reason) => {
    const stop = new StopSwitch()
    const verdict = attempt(hears, { stop })
    stop.abort(reason)
    await expect(verdict).resolves.toMatchObject({ outcome: 'retry', error: { message: 'stopped' } })
  })
})
