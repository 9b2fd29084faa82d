/** What is old goes, what the next run is decided by stays. */
import { runHandler } from '@sluice/engine/testing'
import { expect } from 'vitest'
import { test } from '../../../../test/support/collector-scene.ts'
import { findPoorerSince } from '../strategy/run-record.ts'
import { Strategies } from '../strategy/strategies.ts'
import { prune } from './prune.ts'

const days = (count: number): Date => new Date(Date.now() - count * 86_400_000)

test('[C-18] runs and switches past keeping are forgotten, but not those that decide how the next run reads', async ({
  engine,
  addUser,
  client,
}) => {
  const { id: live } = await addUser(1)
  const { id: other } = await addUser(2)
  const run = (
    number: number,
    collection: number,
    strategy: string,
    old: number,
    more: { failed?: number; watched?: number } = {},
  ) =>
    client.query(
      `insert into collector.run (run, user_id, collection_id, strategy, planned_at, ended_at, jobs, failed, watched)
       values ($1, $2, $3, $4, $5, $5, 10, $6, $7)`,
      [number, collection === other ? 2 : 1, collection, strategy, days(old), more.failed ?? 0, more.watched ?? null],
    )
  const change = async (user: number | null, chosen: string, old: number, state = 'kept'): Promise<number> => {
    const { rows } = await client.query<{ id: string }>(
      `insert into collector.switch (user_id, chosen, from_strategy, to_strategy, made_by, made_at, state, settled_at)
       values ($1, $2, 'graphql', $2, 'person', $3, $4, $5) returning id`,
      [user, chosen, days(old), state, state === 'watching' ? null : days(old)],
    )
    return Number(rows[0]?.id)
  }
  const watched = await change(2, 'rest', 80, 'watching')
  await run(1, live, 'graphql', 90)
  await run(2, live, 'graphql', 80)
  await run(3, live, 'graphql', 79, { failed: 3 })
  await run(4, live, 'rest', 70)
  await run(5, live, 'rest', 69)
  await run(6, live, 'rest', 68)
  await run(7, other, 'rest', 95)
  await run(8, other, 'rest', 80, { watched })
  await run(9, other, 'rest', 60)
  await run(10, 4_711, 'rest', 60) // a shadow that is gone
  await run(11, 4_712, 'rest', 5)
  const first = await change(null, 'rest', 90)
  const forAll = await change(null, 'rest', 60)
  const forOne = await change(1, 'rest', 50)
  const poorer = [await findPoorerSince(engine, live), await findPoorerSince(engine, other)]

  const services = { collector: { engine, settings: { keepDays: 30 } } }
  await runHandler(prune, {}, { services } as never)
  const kept = await client.query<{ run: string }>('select run from collector.run order by run')
  expect(kept.rows.map((row) => Number(row.run))).toEqual([2, 4, 6, 7, 8, 9, 11])
  const switches = await client.query<{ id: string }>('select id from collector.switch order by id')
  expect(switches.rows.map((row) => Number(row.id))).toEqual([watched, forAll, forOne])
  expect(first).toBeLessThan(forAll)
  expect([await findPoorerSince(engine, live), await findPoorerSince(engine, other)]).toEqual(poorer)
  expect((await new Strategies(engine).current()).strategy).toBe('rest')
})
