import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from './kind.ts'
import { done } from './outcome.ts'
import { cancelJobs } from './steer.ts'

test('[E-22] a cancel of many that waits for the write of one holds up neither the others nor strangers', async ({ engines }) => {
  let [started, writing] = [0, false]
  let [goOn, store] = [() => {}, () => {}]
  const asked = new Promise<void>((resolve) => void (goOn = resolve))
  const stored = new Promise<void>((resolve) => void (store = resolve))
  const plain = defineKind('plain', {
    async run() {
      started++
      await asked
    },
  })
  const slow = defineKind('slow', {
    run: () =>
      done({
        async write() {
          writing = true
          await stored
        },
      }),
  })
  const engine = engines({ kinds: [plain, slow] })
  await engine.start()
  const [one, stranger, busy] = await engine.enqueueMany([plain({ n: 1 }), plain({ n: 2 }), slow({})])
  await eventually(() => started === 2 && writing)
  const canceling = cancelJobs(engine, [one!.id, busy!.id])
  await eventually(async () => (await engine.find(one!.id))?.cancelRequestedAt !== null)
  goOn()
  await eventually(async () => (await engine.find(stranger!.id))?.state === 'succeeded')
  expect(await engine.find(busy!.id)).toMatchObject({ state: 'running', cancelRequestedAt: null })
  store()
  expect(await canceling).toEqual(
    new Map([
      [one!.id, 'requested'],
      [busy!.id, 'not live'],
    ]),
  )
  expect(await engine.find(busy!.id)).toMatchObject({ state: 'succeeded' })
})
