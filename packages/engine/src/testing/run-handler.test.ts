/** A handler alone: a payload goes in, an outcome comes out, no database. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineKind } from '../job/kind.ts'
import { done, retry } from '../job/outcome.ts'
import { runHandler } from './run-handler.ts'

interface Services {
  readonly rates: { get(pair: string): Promise<number> }
}

const convert = defineKind('convert', {
  payload: z.object({ amount: z.number(), to: z.string().default('EUR') }),
  async run({ payload, attempt, signal }, { rates }: Services) {
    if (signal.aborted) return retry()
    const rate = await rates.get(`USD${payload.to}`)
    return done({ next: attempt === 1 ? [audit({ sum: payload.amount * rate })] : [] })
  },
})
const audit = defineKind('audit', { run: () => {} })
const services: Services = { rates: { get: async (pair) => (pair === 'USDEUR' ? 2 : 3) } }

test('[E-28] the outcome can be looked at: what would be written and enqueued is there as a value', async () => {
  const outcome = await runHandler(convert, { amount: 5 }, { services })
  expect(outcome).toMatchObject({ type: 'done', next: [{ payload: { sum: 10 } }] })
})

test('[E-28] payload, attempt and signal can be given, and the rest has defaults', async () => {
  await expect(runHandler(convert, { amount: 5 }, { services, context: { attempt: 2 } })).resolves.toEqual({ type: 'done' })
  const stopped = { services, context: { signal: AbortSignal.abort() } }
  await expect(runHandler(convert, { amount: 5 }, stopped)).resolves.toEqual({ type: 'retry' })
})

test('[E-28] a payload that does not fit the schema is refused as it would be by the engine', async () => {
  await expect(runHandler(convert, { amount: 'five' as never }, { services })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
})

test('[E-28] a handler that returns nothing is done, and what it throws comes through', async () => {
  await expect(runHandler(audit, {})).resolves.toEqual({ type: 'done' })
  const broken = defineKind('broken', { run: () => Promise.reject(new Error('boom')) })
  await expect(runHandler(broken, {})).rejects.toThrow('boom')
})

test('[E-28] what a handler logs can be looked at, and need not be', async () => {
  const lines: unknown[][] = []
  const wordy = defineKind('wordy', { run: ({ log }) => log('half way', { done: 5 }) })
  await expect(runHandler(wordy, {})).resolves.toEqual({ type: 'done' })
  await runHandler(wordy, {}, { context: { log: (...line) => void lines.push(line) } })
  expect(lines).toEqual([['half way', { done: 5 }]])
})

test('[E-28] a module is stood in for by the test', async () => {
  const heavy = defineKind('heavy', {
    module: new URL('file:///nowhere.js'),
    run: async ({ compute }) => ((await compute()) === 42 ? done() : retry()),
  })
  await expect(runHandler(heavy, {}, { context: { compute: async () => 42 } })).resolves.toEqual({ type: 'done' })
  await expect(runHandler(heavy, {})).rejects.toThrow(/context\.compute/)
})

test('[E-28] what the engine would refuse is refused: a payload that JSON changes, an outcome that is none, a word that is not known', async () => {
  const dated = defineKind('dated', { payload: z.object({ at: z.date() }), run: () => {} })
  await expect(runHandler(dated, { at: new Date() })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  for (const nonsense of [42, 'done', {}, null, true]) {
    const odd = defineKind('odd', { run: () => nonsense as never })
    await expect(runHandler(odd, {}), JSON.stringify(nonsense)).rejects.toMatchObject({ code: 'INVALID_OUTCOME' })
  }
  await expect(runHandler(audit, {}, { servces: {} } as never)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('what a handler wants next is checked as the engine would', async () => {
  const child = defineKind('child', { payload: z.object({ n: z.number() }), run: () => {} })
  const parent = defineKind('parent', { run: () => done({ next: [child({ n: 1 }), child({ n: 'one' as never })] }) })
  await expect(runHandler(parent, {})).rejects.toMatchObject({ code: 'INVALID_PAYLOAD', details: { place: 'next[1]' } })
})

test('a context with a name that is not known is refused', async () => {
  const idle = defineKind('idle', { run: () => {} })
  await expect(runHandler(idle, {}, { context: { atempt: 2 } as never })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})
