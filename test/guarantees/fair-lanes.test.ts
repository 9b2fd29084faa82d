/**
 * Fair between lanes, strict inside one. Shares are counted by calling the claim as a worker with so many free slots does: with one slot at
 * a time (long jobs) the order of lanes decides everything, with many at a time the shares inside one claim do.
 */
import { defineKind, type FailPoint } from '@sluice/engine'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/database.ts'
import { inject } from '../support/lane-chaos.ts'
import { test } from '../support/lane-scene.ts'

test.for([1, 3, 20])('[E-14] weights 1:2:4 give shares within a tenth of it, %i slots at a time', async (slots, { scene }) => {
  const weights = { 'a:1': 1, 'b:2': 2, 'c:4': 4 }
  for (const [lane, weight] of Object.entries(weights)) {
    await scene.change(lane, { weight })
    await scene.enqueue(lane, 1_000)
  }
  const counts = await scene.shares(Math.floor(700 / slots), slots)
  const sum = [...counts.values()].reduce((a, b) => a + b, 0)
  const errors = Object.entries(weights).map(([lane, weight]) => Math.abs(((counts.get(lane) ?? 0) / sum) * (7 / weight) - 1))
  console.log(`weights, ${slots} slots: ${JSON.stringify(Object.fromEntries(counts))}, error ${Math.max(...errors).toFixed(3)}`)
  expect(Math.max(...errors), JSON.stringify([...counts])).toBeLessThan(0.1)
})

const evenScenes: [slots: number, lanes: number][] = [
  [1, 2],
  [1, 40],
  [7, 40],
]

test.for(evenScenes)(
  '[E-14] lanes of equal weight get equal shares: %i slots at a time, %i lanes',
  async ([slots, lanes], { scene }) => {
    for (let n = 0; n < lanes; n++) await scene.enqueue(`lane:${n}`, 100)
    const rounds = Math.ceil((lanes * 20) / slots)
    const counts = await scene.shares(rounds, slots)
    const even = (rounds * slots) / lanes
    expect(counts.size).toBe(lanes)
    for (const [lane, count] of counts) expect(Math.abs(count - even), `${lane} got ${count} instead of ${even}`).toBeLessThan(3)
  },
)

test.for([1, 10])(
  '[E-14] a stranger’s single job among 1,000 busy lanes starts with the second claim at the latest, %i slots at a time',
  async (slots, { scene }) => {
    for (let n = 0; n < 1_000; n++) await scene.enqueue(`busy:${n}`, 3)
    // The busy ones have been served before, and heavier ones are among them.
    for (let n = 0; n < 1_000; n += 10) await scene.change(`busy:${n}`, { weight: 5 })
    await scene.shares(100, 16)
    await scene.enqueue('stranger', 1)
    let claims = 0
    for (let found = false; !found && claims < 20; claims++) {
      const { jobs } = await scene.claim(slots)
      found = jobs.some(({ lane }) => lane === 'stranger')
      await scene.settle(jobs)
    }
    console.log(`stranger, ${slots} slots: claim ${claims}`)
    expect(claims).toBeLessThanOrEqual(2)
  },
)

test('[E-30] priority holds inside a lane, whatever comes first', async ({ scene }) => {
  for (const priority of [0, 5, -5, 9, 5]) await scene.enqueue('api', 2, { priority })
  const order: number[] = []
  for (let n = 0; n < 10; n++) {
    const { jobs } = await scene.claim(1)
    order.push(...jobs.map((job) => job.priority))
    await scene.settle(jobs)
  }
  expect(order).toEqual([9, 9, 5, 5, 5, 5, 0, 0, -5, -5])
})

test('[E-14] an urgent lane does not hold up others: priority counts inside a lane only', async ({ scene }) => {
  await scene.enqueue('loud', 100, { priority: 100 })
  await scene.enqueue('quiet', 100)
  const counts = await scene.shares(40, 1)
  expect([...counts.values()]).toEqual([20, 20])
})

test('[E-14] [E-30] beside a busy open lane and a thousand busy lanes, a worker takes a stranger’s job with its second look at the lanes at the latest', async ({
  client,
  engines,
}) => {
  // Every look at the lanes counts, and the one that takes a single job leaves its number.
  await client.query(`create sequence look; create table taken (n int, look bigint)`)
  await inject(client, 'claim_laned', '  return query\n  with door', `perform nextval('look');`)
  await client.query(`
    create function note() returns trigger language plpgsql as $$ begin
      insert into taken select (new.payload ->> 'n')::int, last_value from look; return new; end $$;
    create trigger note after update on sluice.job for each row when (new.kind = 'single' and new.worker is not null) execute function note()`)
  const busy = defineKind('busy', { run: () => new Promise<void>((resolve) => setTimeout(resolve, 10)) })
  const single = defineKind('single', { payload: z.object({ n: z.number() }), run: () => {} })
  let claims = 0
  const probe = (point: FailPoint): void => {
    if (point === 'claim sent') claims++
  }
  const engine = engines({ kinds: [busy, single], pools: { light: { core: 12, max: 12 } }, probe })
  await engine.enqueueMany(Array.from({ length: 20_000 }, () => busy({})))
  await engine.enqueueMany(Array.from({ length: 10_000 }, (_, n) => busy({}, { lane: `busy:${n % 1_000}` })))
  await engine.start()
  // The lanes that were there first have all had a turn: from then on strangers go before them.
  await eventually(
    async () => (await client.query(`select from sluice.turn where served_at = '-infinity'`)).rowCount === 0,
    60_000,
  )
  const [looks, sent]: [number[], number[]] = [[], []]
  for (let n = 0; n < 20; n++) {
    await engine.enqueue(single({ n }, { lane: `stranger:${n}` }))
    const before = { claims, look: (await client.query(`select last_value::int as look from look`)).rows[0].look }
    const { look } = await eventually(async () => (await client.query(`select look::int from taken where n = $1`, [n])).rows[0])
    looks.push(look - before.look)
    sent.push(claims - before.claims)
  }
  console.log(`strangers: taken by look ${looks.join(' ')} at the lanes, claims of the pool meanwhile ${sent.join(' ')}`)
  expect(Math.max(...looks)).toBeLessThanOrEqual(2)
  const { rows } = await client.query(
    `select count(*)::int as lanes, (select count(*)::int from sluice.job where lane = '') as open from sluice.turn`,
  )
  expect(rows[0].lanes).toBeGreaterThan(900)
  expect(rows[0].open).toBeGreaterThan(1_000)
})
