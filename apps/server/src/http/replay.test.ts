/** Idempotency-Key: what is asked for twice happens once. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eventually } from '../../../../test/support/database.ts'
import { keyOf, test } from '../../../../test/support/http-scene.ts'

const wanted = { kind: 'idle', payload: { n: 1 }, options: { dedupe: 'none' } }
const key = (text = 'k-1'): Record<string, string> => ({ 'idempotency-key': text })

test('[O-03] a repetition with the same key gets the first answer and does nothing', async ({ http, client }) => {
  const { post } = await http()
  const first = await post('/api/jobs', wanted, key())
  const second = await post('/api/jobs', wanted, key())
  expect(second.json()).toEqual(first.json())
  expect([first.statusCode, second.statusCode]).toEqual([201, 201])
  expect(second.headers).toMatchObject({ location: first.headers.location, 'idempotency-replayed': 'true' })
  expect(first.headers['idempotency-replayed']).toBeUndefined()
  expect((await client.query('select count(*)::int as n from sluice.job')).rows).toEqual([{ n: 1 }])
})

test('[O-03] the same key with another body or another address is refused', async ({ http }) => {
  const { post } = await http()
  await post('/api/jobs', wanted, key())
  const other = [post('/api/jobs', { ...wanted, payload: { n: 2 } }, key()), post('/api/jobs/many', { jobs: [wanted] }, key())]
  for (const answer of await Promise.all(other))
    expect(answer.json()).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' })
})

test('[O-03] of many with one key at once on two processes exactly one acts', async ({ http, client }) => {
  const [one, two] = [await http(), await http()]
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? one : two).post('/api/jobs', wanted, key())))
  expect((await client.query('select count(*)::int as n from sluice.job')).rows).toEqual([{ n: 1 }])
  const statuses = answers.map(({ statusCode }) => statusCode)
  expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
  expect(statuses).toContain(201)
  for (const answer of answers.filter(({ statusCode }) => statusCode === 409))
    expect(answer.json()).toMatchObject({ code: 'IDEMPOTENCY_UNDER_WAY' })
})

test('[O-03] while the first is under way the second is told so', async ({ http, client }) => {
  const [one, two] = [await http(), await http()]
  await one.get('/api/jobs/1')
  await client.query('begin')
  await client.query('lock table sluice.job in access exclusive mode')
  const first = one.post('/api/jobs', wanted, key())
  // Before the second asks: whoever has the key waits for the table.
  await eventually(async () => (await client.query('select from sluice.idempotency')).rows.length === 1)
  expect((await two.post('/api/jobs', wanted, key())).json()).toMatchObject({ code: 'IDEMPOTENCY_UNDER_WAY' })
  await client.query('rollback')
  expect((await first).statusCode).toBe(201)
  expect((await two.post('/api/jobs', wanted, key())).json()).toEqual((await first).json())
})

test('[O-03] what was refused lets the key go', async ({ http }) => {
  const { post } = await http()
  expect((await post('/api/jobs', { kind: 'later' }, key())).json()).toMatchObject({ status: 422, code: 'UNKNOWN_KIND' })
  expect((await post('/api/jobs', wanted, key())).statusCode).toBe(201)
})

test('[O-03] keys of two callers have nothing to do with each other', async ({ http }) => {
  const scene = await http({ requireKeys: true })
  const [ann, bob] = [await keyOf(scene, 'operate'), await keyOf(scene, 'admin')]
  const first = await scene.post('/api/jobs', wanted, { ...key(), ...ann })
  const second = await scene.post('/api/jobs', wanted, { ...key(), ...bob })
  expect(second.json().id).not.toBe(first.json().id)
})

test('[O-03] a process that died with a key in hand is taken over from, and wakes to add nothing', async ({ http, client }) => {
  const dead = await http({ limits: { answerMsMax: 60_000 } })
  const { post } = await http()
  await dead.get('/api/jobs/1')
  await client.query('begin')
  await client.query('lock table sluice.job in access exclusive mode')
  const late = dead.post('/api/jobs', wanted, key())
  await eventually(async () => (await client.query('select from sluice.idempotency')).rows.length === 1)
  // Its time is over before it gets to its job.
  await dead.engine.query(sql`update sluice.idempotency set until = sluice.now() - interval '1 second'`)
  const taken = post('/api/jobs', wanted, key())
  const live = 'select from sluice.idempotency where until > sluice.now()'
  await eventually(async () => (await client.query(live)).rows.length === 1)
  await client.query('commit')
  const answers = [await late, await taken]
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([201, 409]))
  expect((await client.query('select count(*)::int as n from sluice.job')).rows).toEqual([{ n: 1 }])
})

test('[O-03] answers are forgotten after a day, and swept up by whoever comes next', async ({ http, client }) => {
  const { post } = await http()
  for (const name of ['a', 'b', 'c']) await post('/api/jobs', wanted, key(name))
  await client.query(`update sluice.idempotency set until = until - interval '24 hours 1 second'`)
  expect((await post('/api/jobs', wanted, key('a'))).headers['idempotency-replayed']).toBeUndefined()
  expect((await client.query('select key from sluice.idempotency')).rows).toEqual([{ key: 'a' }])
})

test('[O-03] a key that is no key is refused', async ({ http }) => {
  const { post } = await http()
  for (const text of ['', ' ', 'a b', 'x'.repeat(256)])
    expect((await post('/api/jobs', wanted, key(text))).json()).toMatchObject({ status: 422, code: 'INVALID_REQUEST' })
})
