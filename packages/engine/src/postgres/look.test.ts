/** What people look at has a time limit and connections of its own. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'

const idle = defineKind('idle', { run: () => {} })

test('[O-03] a look that waits too long is ended and says what to do, while work goes on', async ({ engines, client }) => {
  const engine = engines({ kinds: [idle], lookTime: '900ms' })
  const { id } = await engine.enqueue(idle({}))
  await client.query('begin')
  await client.query('lock table sluice.attempt in access exclusive mode')
  await expect(engine.attempts(id)).rejects.toMatchObject({ code: 'LOOK_TOO_LONG', message: expect.stringContaining('900 ms') })
  await expect(engine.enqueue(idle({ n: 2 }))).resolves.toMatchObject({ created: true })
  await client.query('rollback')
  // On a busy machine it may take as long without any lock.
  expect(await eventually(() => engine.attempts(id).catch(() => undefined))).toEqual([])
})

test('[O-03] many looks that hang take no connection from those who write', async ({ engines, client }) => {
  const engine = engines({ kinds: [idle], lookTime: '25s', poolMax: 2 })
  const { id } = await engine.enqueue(idle({}))
  await client.query('begin')
  await client.query('lock table sluice.attempt in access exclusive mode')
  const looks = Promise.all(Array.from({ length: 20 }, () => engine.attempts(id)))
  await expect(engine.enqueue(idle({ n: 2 }))).resolves.toMatchObject({ created: true })
  await client.query('rollback')
  await expect(looks).resolves.toHaveLength(20)
})
