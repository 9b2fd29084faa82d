/** Work in a process of its own: it blocks and dies alone, its answers and errors come back, and it is killed when it is told to stop. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { type AnyKind, defineKind } from '../job/kind.ts'
import { once } from '../job/retry.ts'
import { OwnProcesses } from './own-process.ts'

const module = (body: string): URL => new URL(`data:text/javascript,${encodeURIComponent(body)}`)
const kindOf = (body: string): AnyKind => defineKind('heavy', { module: module(body) })
const never = new AbortController().signal
const spinsUntil = `
  import { existsSync } from 'node:fs'
  export default (file) => { while (!existsSync(file)); return 'seen' }`

let processes: OwnProcesses
let folder: string
beforeEach(() => {
  processes = new OwnProcesses()
  folder = mkdtempSync(join(tmpdir(), 'sluice-own-process-'))
})
afterEach(() => {
  processes.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('[E-20] the default export of the module gets the input, in another process, and its answer comes back', async () => {
  const kind = kindOf('export default async ({ list, at }) => ({ sum: list.reduce((a, b) => a + b), at, pid: process.pid })')
  const answer = await processes.run(kind, { list: [1, 2, 3], at: new Date(5) }, never)
  expect(answer).toEqual({ sum: 6, at: new Date(5), pid: expect.any(Number) })
  expect((answer as { pid: number }).pid).not.toBe(process.pid)
})

test('[E-20] a module that blocks the processor delays nobody else', async () => {
  const file = join(folder, 'enough')
  const blocked = processes.run(kindOf(spinsUntil), file, never)
  await expect(processes.run(kindOf('export default () => 5'), null, never)).resolves.toBe(5)
  writeFileSync(file, '')
  await expect(blocked).resolves.toBe('seen')
})

test('[E-22] a module that blocks is killed when its signal is aborted', async () => {
  const stop = new AbortController()
  const blocked = processes.run(kindOf(spinsUntil), join(folder, 'never'), stop.signal)
  stop.abort('canceled')
  await expect(blocked).rejects.toMatchObject({ code: 'OWN_PROCESS_DIED', details: { kind: 'heavy', how: 'SIGKILL' } })
})

test('a signal that is aborted already starts nothing', async () => {
  await expect(processes.run(kindOf('export default () => 1'), null, AbortSignal.abort())).rejects.toThrow()
})

test('[E-20] a module that ends its process fails that call only', async () => {
  const calls = await Promise.allSettled([
    processes.run(kindOf('export default () => process.exit(3)'), null, never),
    processes.run(kindOf(`export default () => process.kill(process.pid, 'SIGSEGV')`), null, never),
    processes.run(kindOf('export default () => 1'), null, never),
  ])
  expect(calls).toMatchObject([
    { reason: { code: 'OWN_PROCESS_DIED', details: { how: 'exit code 3' } } },
    { reason: { code: 'OWN_PROCESS_DIED', details: { how: 'SIGSEGV' } } },
    { value: 1 },
  ])
})

test('an error in the module comes back with its message and its stack', async () => {
  const failing = processes.run(kindOf(`export default function divide() { throw new RangeError('by zero') }`), null, never)
  await expect(failing).rejects.toMatchObject({ message: 'by zero', stack: expect.stringContaining('divide') })
})

test('a module that is not there, or has no function to call, is an error of that call', async () => {
  const missing = defineKind('heavy', { module: new URL(`file://${folder}/missing.mjs`) })
  await expect(processes.run(missing, null, never)).rejects.toThrow(/Cannot find module/)
  await expect(processes.run(kindOf('export const run = 1'), null, never)).rejects.toThrow(/not a function/)
  await expect(processes.run(kindOf('export default ('), null, never)).rejects.toThrow(/Unexpected/)
})

test('an answer or an input that cannot travel is an error, and the process is not lost for it', async () => {
  const pid = kindOf('export default (input) => input === undefined ? () => 1 : process.pid')
  const first = await processes.run(pid, 1, never)
  await expect(processes.run(pid, undefined, never)).rejects.toThrow(/could not be cloned/)
  await expect(processes.run(pid, () => 1, never)).rejects.toThrow(/could not be cloned/)
  await expect(processes.run(pid, 1, never)).resolves.toBe(first)
})

test('a process is kept for the next job of its module, and two jobs at once have two', async () => {
  const pid = kindOf('export default () => process.pid')
  const first = await processes.run(pid, null, never)
  await expect(processes.run(pid, null, never)).resolves.toBe(first)
  const both = await Promise.all([processes.run(pid, null, never), processes.run(pid, null, never)])
  expect(new Set(both).size).toBe(2)
})

test('a kept process that died meanwhile is replaced', async () => {
  const dies = kindOf(`export default () => { setImmediate(() => process.exit(1)); return process.pid }`)
  const first = (await processes.run(dies, null, never)) as number
  await eventually(() => !isAlive(first))
  await expect(processes.run(dies, null, never)).resolves.not.toBe(first)
})

test('[E-20] a process that cannot be started fails that call only', async () => {
  const { execPath } = process
  process.execPath = join(folder, 'no-node')
  const failing = processes.run(kindOf('export default () => 1'), null, never)
  process.execPath = execPath
  await expect(failing).rejects.toMatchObject({
    code: 'OWN_PROCESS_DIED',
    details: { how: expect.stringMatching(/^not started: .*ENOENT/) },
  })
  await expect(processes.run(kindOf('export default () => 1'), null, never)).resolves.toBe(1)
})

test('[E-20] a process that is kept for many jobs is listened to by no more than at the first', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error): void => void warnings.push(warning)
  process.on('warning', hear)
  // Node warns of the eleventh listener.
  for (let n = 0; n < 15; n++) await processes.run(kindOf('export default () => 1'), null, never)
  process.off('warning', hear)
  expect(warnings).toEqual([])
})

test('stop ends idle and busy processes', async () => {
  const idle = (await processes.run(kindOf('export default () => process.pid'), null, never)) as number
  const busy = processes.run(kindOf(spinsUntil), join(folder, 'never'), never)
  processes.stop()
  await expect(busy).rejects.toMatchObject({ code: 'OWN_PROCESS_DIED' })
  await eventually(() => !isAlive(idle))
})

test('compute without a module says what is missing', async () => {
  const kind = defineKind('light', { run: () => {} })
  await expect(processes.run(kind, null, never)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('[E-20] a heavy job that blocks its processor does not hold up the light jobs of the same worker', async ({ engines }) => {
  const file = join(folder, 'light-was-here')
  const answers: unknown[] = []
  const heavy = defineKind('heavy', {
    payload: z.string(),
    pool: 'heavy',
    module: module(spinsUntil),
    run: async ({ compute }) => void answers.push(await compute()),
  })
  const light = defineKind('light', { run: () => writeFileSync(file, '') })
  const engine = engines({ kinds: [heavy, light] })
  await engine.start()
  const blocked = await engine.enqueue(heavy(file))
  await eventually(async () => (await engine.find(blocked.id))?.state === 'running')
  const { id } = await engine.enqueue(light({}))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  await eventually(async () => (await engine.find(blocked.id))?.state === 'succeeded')
  expect(answers).toEqual(['seen'])
})

test('[E-29] a heavy job that never ends is killed at its limit, and its attempt counts', async ({ engines }) => {
  const endless = defineKind('endless', { module: module('export default () => { for (;;); }'), timeout: '50ms', retry: once })
  const engine = engines({ kinds: [endless] })
  await engine.start()
  const { id } = await engine.enqueue(endless({}))
  const failed = await eventually(async () => (await engine.failed())[0])
  expect(failed).toMatchObject({ id, attempt: 1, error: { code: 'HANDLER_TIMED_OUT' } })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
