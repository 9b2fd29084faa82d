/** Settles that meet others on the same rows: whoever comes first, the job ends in a state that somebody looks after. */
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'

const settleCall = `select stale from sluice.settle(1000, array[$1::bigint], array[$2::bigint], array[$3], array[60000::float8], array[null::timestamptz], array[null::jsonb], array[0], null, true)`

/** A claimed job, and a second connection. */
async function scene(client: pg.Client, url: string) {
  await client.query(`
    insert into sluice.kind (name) values ('x');
    insert into sluice.worker (id, name, lease_until) values (1000, 'test', 'infinity');
    select sluice.enqueue('x')`)
  const { rows } = await client.query(`select id, fence from sluice.claim('light', 1000, 1, -9e15::bigint, '{}')`)
  const other = new pg.Client(url)
  other.on('error', () => {})
  await other.connect()
  return { id: rows[0].id as string, fence: rows[0].fence as string, other }
}

const backendOf = (client: pg.Client): number | undefined => (client as unknown as { processID?: number }).processID
const isWaiting = (client: pg.Client, other: pg.Client): Promise<true> =>
  eventually(async () => {
    const { rowCount } = await client.query('select from pg_locks where not granted and pid = $1', [backendOf(other)])
    return rowCount === 1
  })
const stateOf = async (client: pg.Client, id: string): Promise<unknown> =>
  (
    await client.query(
      'select sluice.state_of(shelf, worker) as state from sluice.job where id = $1 union all select state from sluice.job_ledger where id = $1',
      [id],
    )
  ).rows

test.for(['retry', 'snooze', 'handed back', 'canceled'])(
  '[E-22] a %s that meets a cancel on its way ends the job as canceled',
  async (outcome, { client, database }) => {
    const { id, fence, other } = await scene(client, database.url)
    await client.query('begin')
    await client.query('select sluice.cancel(array[$1::bigint], null)', [id])
    const settling = other.query(settleCall, [id, fence, outcome])
    await isWaiting(client, other)
    await client.query('commit')
    expect((await settling).rows).toEqual([{ stale: [] }])
    expect(await stateOf(client, id)).toEqual([{ state: 'canceled' }])
    await other.end()
  },
)

test.for([
  ['done', 'succeeded'],
  ['failed', 'failed'],
] as const)('[E-22] a %s that meets a cancel on its way ends the job as %s', async ([outcome, state], { client, database }) => {
  const { id, fence, other } = await scene(client, database.url)
  await client.query('begin')
  await client.query('select sluice.cancel(array[$1::bigint], null)', [id])
  const settling = other.query(settleCall, [id, fence, outcome])
  await isWaiting(client, other)
  await client.query('commit')
  expect((await settling).rows).toEqual([{ stale: [] }])
  expect(await stateOf(client, id)).toEqual([{ state }])
  await other.end()
})

test('[E-22] a cancel that meets a retry on its way finds the job waiting and ends it', async ({ client, database }) => {
  const { id, fence, other } = await scene(client, database.url)
  await client.query('begin')
  await client.query(settleCall, [id, fence, 'retry'])
  const canceling = other.query('select answer from sluice.cancel(array[$1::bigint], null)', [id])
  await isWaiting(client, other)
  await client.query('commit')
  expect((await canceling).rows).toEqual([{ answer: 'canceled' }])
  expect(await stateOf(client, id)).toEqual([{ state: 'canceled' }])
  await other.end()
})

test('[E-07] a settle with an old fence changes nothing and is told so', async ({ client, database }) => {
  const { id, fence, other } = await scene(client, database.url)
  for (const outcome of ['done', 'retry', 'snooze', 'failed', 'canceled', 'handed back'])
    expect((await client.query(settleCall, [id, Number(fence) - 1, outcome])).rows).toEqual([{ stale: [id] }])
  expect(await stateOf(client, id)).toEqual([{ state: 'running' }])
  await other.end()
})
