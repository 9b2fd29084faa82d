import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { stopOnSignal } from './stop-on-signal.ts'

/** A process that notes how it would have ended, and a command whose local PostgreSQL does not stop before it is told to. */
function scene({ stopsInOrder }: { stopsInOrder: boolean }) {
  const exits: unknown[] = []
  const process = Object.assign(new EventEmitter(), { exit: (code: unknown) => void exits.push(code) })
  const ending = new AbortController()
  const [ended, left] = [promised(), promised()]
  const session = {
    stopsInOrder,
    leaving: undefined as Promise<void> | undefined,
    end: () => ended.promise,
    leave: () => (session.leaving = left.promise),
  }
  stopOnSignal(process as unknown as NodeJS.Process, ending, session)
  return { process, exits, ending, session, ended, left }
}

function promised() {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve: () => resolve() }
}

test('[E-23] the second signal waits for the local PostgreSQL, and for nothing else', async () => {
  const { process, exits, ending, session, left } = scene({ stopsInOrder: true })
  process.emit('SIGINT')
  expect([ending.signal.aborted, session.leaving]).toEqual([true, undefined])
  process.emit('SIGTERM')
  expect([exits, session.leaving]).toEqual([[], left.promise])
  left.resolve()
  await expect.poll(() => exits).toEqual([130])
})

test('[E-23] the third signal waits for nothing', () => {
  const { process, exits } = scene({ stopsInOrder: true })
  process.emit('SIGINT')
  process.emit('SIGINT')
  expect(exits).toEqual([])
  process.emit('SIGINT')
  expect(exits).toEqual([130])
})

test('[E-23] an end that fails waits for the local PostgreSQL all the same', async () => {
  const failing = scene({ stopsInOrder: false })
  failing.session.end = () => Promise.reject(new Error('the database is gone'))
  failing.process.emit('SIGINT')
  failing.process.emit('SIGINT')
  await new Promise(setImmediate)
  expect(failing.exits).toEqual([])
  failing.left.resolve()
  await expect.poll(() => failing.exits).toEqual([130])
})

test('[E-23] a command that only looks ends with the first signal; told twice, not before its local PostgreSQL', async () => {
  const once = scene({ stopsInOrder: false })
  once.process.emit('SIGHUP')
  once.ended.resolve()
  await expect.poll(() => once.exits).toEqual([130])

  const twice = scene({ stopsInOrder: false })
  twice.process.emit('SIGINT')
  twice.process.emit('SIGINT')
  twice.ended.resolve()
  await twice.ended.promise
  expect(twice.exits).toEqual([])
  twice.left.resolve()
  await expect.poll(() => twice.exits).toEqual([130])
})
