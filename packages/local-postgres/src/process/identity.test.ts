import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
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
  // The child ends when its input does, which is when its parent has become somebody who knows nothing of it: the shell itself might reap it.
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60 3<&-'], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
  const [output] = (await once(parent.stdout as Readable, 'data')) as [Buffer]
  const pid = Number(output.toString())
  expect(await waitUntil(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n', 10_000)).toBe(true)
  ;(parent.stdio[3] as Writable).end()
  expect(await waitUntil(() => !isAlive({ pid }), 10_000)).toBe(true)
  expect(isTaken(pid)).toBe(true)
  parent.kill()
})
