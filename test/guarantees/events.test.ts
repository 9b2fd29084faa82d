/**
 * No event is lost between commit and subscriber, and what a subscriber writes is there once, whichever process dies when. The victim says
 * that it got there before it kills itself; then another process takes over, after the victim's lease.
 */
import type { FailPoint } from '@sluice/engine'
import type pg from 'pg'
import { expect } from 'vitest'
import { effectTable, stepKinds, stepTell, stepTold } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { test } from '../support/processes.ts'
import { drained } from '../support/tally.ts'

const calm = { kinds: stepKinds, services: { enter: () => {} }, lease: '1s' } as const
const killed = { code: null, signal: 'SIGKILL' }

/** How often each kind had its effect. */
async function effects(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ kind: string; n: number }>('select kind, count(*)::int as n from effect group by kind')
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]))
}

test('[E-17] an event that was committed by a process that died at once is delivered', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const survivor = engines(calm)
  await survivor.migrate()
  const publisher = program('publish-and-die')
  expect(await publisher.ended, publisher.complaints).toEqual(killed)
  const { published } = await publisher.hears('published')
  await survivor.start()
  await drained(client)
  expect(await survivor.events.list()).toMatchObject([{ id: published, type: 'step.told', payload: { n: 1 } }])
  expect(await effects(client)).toEqual({ 'step.hear': 1 })
})

test('[E-17] an event whose publisher died before its commit never happened', async ({ client, engines, program }) => {
  await client.query(effectTable)
  const survivor = engines(calm)
  await survivor.migrate()
  const publisher = program('publish-and-die', { leave: 'before commit' })
  expect(await publisher.ended, publisher.complaints).toEqual(killed)
  await publisher.hears('published')
  // The server has noticed: only now the transaction is over.
  await eventually(async () => {
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
    )
    return rows.length === 0
  })
  await survivor.start()
  const { id } = await survivor.publish(stepTold({ n: 2 }))
  await drained(client)
  expect((await survivor.events.list()).map((event) => event.id)).toEqual([id])
  expect(await effects(client)).toEqual({ 'step.hear': 1 })
})

const places: [place: FailPoint | 'handler', when: string][] = [
  ['handler', 'in a handler'],
  ['handler ended', 'between handler and settle'],
  ['before commit', 'before the commit'],
  ['settled', 'after the commit'],
]

test.concurrent.for(places)(
  '[E-17] [E-09] a subscriber that dies at "%s", %s, has its effects once',
  async ([place], { client, engines, program }) => {
    await client.query(effectTable)
    const survivor = engines(calm)
    for (const n of [1, 2, 3]) await survivor.publish(stepTold({ n }))
    const victim = program('step-worker', { at: place, lease: '1s' })
    expect(await victim.ended, victim.complaints).toEqual(killed)
    expect(victim.said).toContainEqual({ reached: place })
    await survivor.start()
    await drained(client)
    expect(await effects(client)).toEqual({ 'step.hear': 3 })
    const { rows } = await client.query(
      'select count(distinct event)::int as events, count(*)::int as jobs from sluice.job_ledger',
    )
    expect(rows).toEqual([{ events: 3, jobs: 3 }])
  },
)

test.concurrent.for(places)(
  '[E-17] [E-09] a publisher that dies at "%s", %s, publishes once',
  async ([place], { client, engines, program }) => {
    await client.query(effectTable)
    const survivor = engines(calm)
    await survivor.enqueueMany([1, 2, 3].map((n) => stepTell({ n })))
    const victim = program('step-worker', { at: place, lease: '1s' })
    expect(await victim.ended, victim.complaints).toEqual(killed)
    expect(victim.said).toContainEqual({ reached: place })
    await survivor.start()
    await drained(client)
    expect(await survivor.events.list()).toHaveLength(3)
    expect(await effects(client)).toEqual({ 'step.tell': 3, 'step.hear': 3 })
  },
)
