/**
 * What handlers ask for as their second argument is demanded where they are registered. Mostly a test of types: `npm run check` fails where an
 * expected error is missing.
 */
import { expect, test } from 'vitest'
import { createEngine } from './create-engine.ts'
import { defineKind } from './job/kind.ts'
import { defineRun } from './run/run-kind.ts'
import { silentLog } from './support/log.ts'
import { runHandler } from './testing/run-handler.ts'
import { createTestKit } from './testing/test-kit.ts'

interface Mailer {
  send(to: string): void
}
const mail = defineKind('mail', { run: (_context, { mailer }: { mailer: Mailer }) => mailer.send('a') })
const bill = defineKind('bill', { run: (_context, { tax }: { tax: number }) => void tax.toFixed(2) })
const tidy = defineKind('tidy', {
  run: (_context, services: { days?: number }) => {
    expect(services).toEqual({})
  },
})
const idle = defineKind('idle', { run: () => {} })
const round = defineRun('round', { plan: (_context, { tax }: { tax: number }) => void tax.toFixed(2) })
const mailer: Mailer = { send() {} }
const place = { database: 'postgresql://localhost/nowhere', log: silentLog }

test('[E-28] an engine whose kinds and runs ask for services is made with them, or not by types', () => {
  createEngine({ ...place, kinds: [idle, tidy] })
  createEngine({ ...place, kinds: [mail, bill, idle], runs: [round], services: { mailer, tax: 0.2 } })
  // @ts-expect-error -- the mailer is missing
  createEngine({ ...place, kinds: [mail, idle] })
  // @ts-expect-error -- the tax is missing
  createEngine({ ...place, kinds: [mail, bill], services: { mailer } })
  // @ts-expect-error -- the tax is no number
  createEngine({ ...place, kinds: [bill], services: { tax: 'high' } })
  // @ts-expect-error -- the run asks for the tax
  createEngine({ ...place, runs: [round] })
})

test('[E-28] so are a kit and a handler alone, and who may go without gets an empty set', async () => {
  // @ts-expect-error -- the mailer is missing; the address is wrong besides
  await expect(createTestKit({ database: 'nowhere', kinds: [mail] })).rejects.toMatchObject({ code: 'DATABASE_URL_INVALID' })
  await expect(createTestKit({ database: 'nowhere', kinds: [idle] })).rejects.toMatchObject({ code: 'DATABASE_URL_INVALID' })
  // @ts-expect-error -- the mailer is missing
  await expect(runHandler(mail, {})).rejects.toThrow(TypeError)
  await expect(runHandler(tidy, {})).resolves.toEqual({ type: 'done' })
  await expect(runHandler(mail, {}, { services: { mailer } })).resolves.toEqual({ type: 'done' })
})
