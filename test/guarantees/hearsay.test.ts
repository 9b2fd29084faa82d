/**
 * What processes tell each other over channels are hints. Anybody who can connect can say anything there, without any right on the tables: it changes nothing but when somebody looks.
 */
import { defineKind, done } from '@sluice/engine'
import { expect } from 'vitest'
import { eventually, test } from '../support/database.ts'

test('[E-22] a cancel that nobody has written down cancels nothing: the job goes back and runs again', async ({
  engines,
  client,
}) => {
  let runs = 0
  const long = defineKind('long', {
    async run({ signal }) {
      if (runs++ > 0) return done()
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('told to stop'))))
    },
  })
  const engine = engines({ kinds: [long] })
  await engine.start()
  const { id } = await engine.enqueue(long({}))
  await eventually(() => runs === 1)
  await client.query(
    `select pg_notify('sluice', format('cancel:%s:%s:9007199254740991', w.id, $1::bigint)) from sluice.worker w`,
    [id],
  )
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect(await engine.attempts(id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
  expect(runs).toBe(2)
})

test('[E-11] noise on any channel ends nobody', async ({ engines, client }) => {
  const note = defineKind('note', { run: () => {} })
  const engine = engines({ kinds: [note] })
  await engine.start()
  const channel = async () =>
    (await client.query<{ channel: string | null }>('select channel from sluice.worker')).rows[0]?.channel
  await eventually(async () => typeof (await channel()) === 'string')
  const noise = [
    '',
    '5',
    'null',
    '{}',
    '[]',
    '[1]',
    '[1,2,3]',
    '["1","light","x"]',
    'not JSON',
    'cancel:',
    'due:x',
    'run:',
    'ready:',
  ]
  for (const message of noise)
    for (const where of ['sluice', await channel()]) await client.query('select pg_notify($1, $2)', [where, message])
  const { id } = await engine.enqueue(note({}))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  expect(engine.status()).toMatchObject({ ready: true })
})
