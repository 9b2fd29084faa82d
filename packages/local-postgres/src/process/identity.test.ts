import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { identify, isAlive, isTaken } from './identity.ts'
import { waitUntil } from './wait-until.ts'

test('a process is alive until it ends', async () => {
  const child = spawn('sleep', ['60'])
  const identity = identify(child.pid ?? 0)
  expect(isAlive(identity)).toBe(true)
  child.kill()
  await once(child, 'exit')
  expect(isAlive(identity)).toBe(false)
  expect(isTaken(identity.pid)).toBe(false)
})

test.runIf(process.platform === 'linux')('a stranger with the same pid is somebody else', () => {
  expect(isAlive({ ...identify(process.pid), started: 'another boot/1' })).toBe(false)
})

test.runIf(process.platform === 'linux')('a corpse that nobody reaps is dead, though its pid is taken', async () => {
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [output] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(output.toString())
  expect(await waitUntil(() => !isAlive({ pid }), 10_000)).toBe(true)
  expect(isTaken(pid)).toBe(true)
  parent.kill()
})
