import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { scratchFolder } from '../scene/scratch-folder.ts'
import { identify } from './identity.ts'
import { withLock } from './lock.ts'

vi.setConfig({ testTimeout: 60_000 })

test('only one process at a time holds the lock, also when a holder is killed', async () => {
  const folder = scratchFolder()
  const file = join(folder, 'count')
  writeFileSync(file, '0')
  leaveLockOfTheDead(folder, 3)
  const program = fileURLToPath(new URL('../../dist/scene/lock-counter.js', import.meta.url))
  const counters = Array.from({ length: 4 }, () => fork(program, [folder, file, '50'], { execArgv: [] }))
  const codes = await Promise.all(counters.map((counter) => once(counter, 'exit')))
  expect(codes.map(([code]) => code)).toEqual([0, 0, 0, 0])
  expect(readFileSync(file, 'utf8')).toBe('200')
})

test('the lock of a living process is waited for', async () => {
  const folder = scratchFolder()
  const order: string[] = []
  const first = withLock(folder, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    order.push('first')
  })
  await Promise.all([first, withLock(folder, async () => void order.push('second'))])
  expect(order).toEqual(['first', 'second'])
})

test('a lock that a power cut left empty is free', async () => {
  const folder = scratchFolder()
  writeFileSync(join(folder, 'lock.1'), '')
  await expect(withLock(folder, async () => 'free')).resolves.toBe('free')
})

test('work that fails frees the lock, and old lock files do not pile up', async () => {
  const folder = scratchFolder()
  await expect(withLock(folder, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await expect(withLock(folder, async () => 'free')).resolves.toBe('free')
  expect(readdirSync(folder)).toEqual(['lock.2'])
})

function leaveLockOfTheDead(folder: string, number: number): void {
  writeFileSync(join(folder, `lock.${number}`), JSON.stringify({ ...identify(process.pid), started: 'another boot/1' }))
}
