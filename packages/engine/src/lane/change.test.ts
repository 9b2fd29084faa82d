/** Changes of lanes and owners that somebody holds in an open transaction. */
import pg from 'pg'
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'

test('[E-21] a change of a lane or owner in an open transaction is refused with the name of the session, and nothing is changed later', async ({
  engines,
  database,
}) => {
  const engine = engines()
  await engine.lanes.set('api', { cap: 2 })
  await engine.lanes.set('of:ann', { owner: 'ann', cap: 2 })
  await engine.owners.set('ann', { cap: 2 })
  await engine.owners.set('bob', { cap: 2 })
  const holder = new pg.Client({ connectionString: database.url, application_name: 'a hand' })
  await holder.connect()
  try {
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
    await holder.query(`begin; select from sluice.lane where key in ('api', 'of:ann') for update`)
    await holder.query(`select from sluice.owner where name = 'bob' for update; insert into sluice.lane (key) values ('new')`)
    const held = (what: string) => ({
      code: 'IN_OPEN_TRANSACTION',
      message: expect.stringMatching(
        new RegExp(`^Nothing was changed: ${what} is in an open transaction of session ${rows[0]!.pid} \\(a hand, since `),
      ),
    })
    const lane = held('lane "api"')
    await Promise.all([
      expect(engine.lanes.pause('api')).rejects.toMatchObject(lane),
      expect(engine.pause({ scope: 'lane', name: 'api' })).rejects.toMatchObject(lane),
      expect(engine.lanes.sync('api', { remaining: 5, resetAt: new Date(Date.now() + 60_000) })).rejects.toMatchObject(lane),
      expect(engine.owners.pause('ann')).rejects.toMatchObject(held('owner "ann"')), // by way of its lane
      expect(engine.owners.pause('bob')).rejects.toMatchObject(held('owner "bob"')),
      // It is not there yet, so that nobody can tell who makes it.
      expect(engine.lanes.pause('new')).rejects.toMatchObject({
        message: expect.stringContaining('lane "new" is in an open transaction. '),
      }),
    ])
    await holder.query('commit')
    expect(await engine.pauses()).toEqual([])
    await engine.lanes.pause('api', 'now')
    expect(await engine.pauses()).toMatchObject([{ scope: 'lane', name: 'api', reason: 'now' }])
  } finally {
    await holder.end()
  }
})
