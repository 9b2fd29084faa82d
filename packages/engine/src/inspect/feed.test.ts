/** Looking on live: who hears what, and that nobody pays while nobody looks. */
import type pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { test as base, eventually } from '../../../../test/support/database.ts'
import { defineEvent } from '../event/event.ts'
import { defineKind } from '../job/kind.ts'
import { done } from '../job/outcome.ts'
import { defineRun } from '../run/run-kind.ts'
import type { Change, Topic } from './change.ts'

const note = defineKind('note', { payload: z.looseObject({}), run: () => {} })
const opened = defineEvent('door.opened', { payload: z.object({}) })
const collect = defineRun('collect', { plan: () => done({ next: [note({})] }) })

interface Fixtures {
  /** Every word on the channel, as any session hears it. */
  words: string[]
}

const test = base.extend<Fixtures>({
  words: async ({ client }, use) => {
    const words: string[] = []
    client.on('notification', ({ payload = '' }) => words.push(payload))
    await client.query('listen sluice')
    await use(words)
  },
})

/** Resolves when everything that was said until now has been heard. */
async function caughtUp(client: pg.Client, words: readonly string[]): Promise<void> {
  const mark = `mark:${words.length}`
  await client.query(`select pg_notify('sluice', $1)`, [mark])
  await eventually(() => words.includes(mark))
}

const told = (words: readonly string[]): string[] => words.filter((word) => word.startsWith('change:'))
const watchers = async (client: pg.Client): Promise<number> =>
  (await client.query('select from sluice.worker where watching')).rowCount ?? 0
const heardOf = (changes: readonly Change[], topic: Topic, id?: number): boolean =>
  changes.some((change) => change.topic === topic && (id === undefined || change.ids?.includes(id)))

test('[O-04] who looks on hears of what another process does', async ({ engines, client, words }) => {
  const [desk, shop] = [engines({ pools: {}, lead: false }), engines({ kinds: [note], runs: [collect] })]
  await desk.start()
  await shop.start()
  const changes: Change[] = []
  const stop = desk.watch((change) => changes.push(change))
  await eventually(async () => (await watchers(client)) === 1)
  // The word makes the shop beat at once; from then on it tells.
  const made: number[] = []
  await eventually(async () => {
    const { id } = await shop.enqueue(note({ n: made.length }))
    made.push(id)
    await eventually(async () => (await shop.find(id))?.state === 'succeeded')
    return made.some((one) => heardOf(changes, 'jobs', one))
  })
  expect(told(words).length).toBeGreaterThan(0)
  const run = await shop.runs.start(collect({}))
  await eventually(() => heardOf(changes, 'runs', run.id))
  stop()
})

test('[O-04] nobody looks on: jobs run without a word; nor do they after the last one has gone', async ({
  engines,
  client,
  words,
}) => {
  const [desk, shop] = [engines({ pools: {}, lead: false }), engines({ kinds: [note] })]
  await desk.start()
  await shop.start()
  const work = async () => {
    const made = await shop.enqueueMany([1, 2, 3].map((n) => note({ n })))
    await eventually(async () => (await shop.find(made[2]!.id))?.state === 'succeeded')
  }
  await work()
  await caughtUp(client, words)
  expect(told(words)).toEqual([])
  const first = desk.watch(() => {})
  const second = desk.watch(() => {})
  await eventually(async () => {
    await work()
    return told(words).length > 0
  })
  first()
  await caughtUp(client, words)
  expect(await watchers(client)).toBe(1)
  second()
  await eventually(async () => (await watchers(client)) === 0)
  // It has been told, and beats; what it was about to say it drops.
  const { rows } = await client.query<{ beat_at: Date }>('select clock_timestamp() as beat_at')
  await eventually(
    async () =>
      (await client.query('select from sluice.worker where id = $1 and beat_at > $2', [shop.status().worker, rows[0]!.beat_at]))
        .rowCount,
  )
  await caughtUp(client, words)
  words.length = 0
  await work()
  await shop.stop() // a process that leaves says what it still has to say
  await caughtUp(client, words)
  expect(told(words)).toEqual([])
})

test('[O-04] many who look on in one process cost no connection more', async ({ engines, client }) => {
  const engine = engines({ kinds: [note] })
  await engine.start()
  const connections = async () =>
    (
      await client.query(
        `select application_name as name, count(*)::int as n from pg_stat_activity
         where datname = current_database() and application_name in ('sluice listen', 'sluice heartbeat') group by 1 order by 1`,
      )
    ).rows
  const heard = new Set<number>()
  for (let n = 0; n < 1_000; n++) engine.watch(() => heard.add(n))
  await engine.enqueue(note({}))
  await eventually(() => heard.size === 1_000)
  expect(await connections()).toEqual([
    { name: 'sluice heartbeat', n: 1 },
    { name: 'sluice listen', n: 1 },
  ])
})

test('[O-04] what happens in the same process needs no word', async ({ engines, client, words }) => {
  const engine = engines({ kinds: [note] })
  await engine.start()
  const changes: Change[] = []
  engine.watch((change) => changes.push(change))
  const { id } = await engine.enqueue(note({}))
  await eventually(() => heardOf(changes, 'jobs', id))
  await engine.stop()
  await caughtUp(client, words)
  expect(told(words)).toEqual([])
})

test('[O-04] cancels, pauses, lanes, schedules, events, runs and processes are heard of, whoever does it', async ({
  engines,
  client,
}) => {
  const desk = engines({ pools: {}, kinds: [note], events: [opened], runs: [collect] })
  await desk.start()
  const clerk = engines({ kinds: [note] })
  const changes: Change[] = []
  desk.watch((change) => changes.push(change))
  const after = async (act: () => Promise<unknown>, ...topics: Topic[]) => {
    // What came before has been told.
    await eventually(() => changes.splice(0).length === 0)
    await act()
    for (const topic of topics) await eventually(() => heardOf(changes, topic))
  }
  const { id } = await clerk.enqueue(note({}, { delay: '1h' }))
  await after(() => clerk.cancel(id), 'jobs')
  await after(() => clerk.pause({ scope: 'kind', name: 'note' }), 'jobs', 'lanes')
  await after(() => clerk.lanes.pause('a lane'), 'lanes')
  await after(() => clerk.schedules.set('nightly', { cron: '5 0 * * *', job: note({}) }), 'schedules')
  await after(() => desk.publish(opened({})), 'events')
  await after(() => clerk.runs.start({ kind: 'collect', payload: {} }), 'runs')
  await after(() => client.query("select sluice.stop_run(id, 'canceled', null) from sluice.run"), 'runs', 'jobs')
  const other = engines({ pools: {} })
  await after(() => other.start(), 'workers')
  await after(() => other.stop(), 'workers')
})

test('[O-04] a process that died while it looked on is not told any more', async ({ engines, client, words }) => {
  const shop = engines({ kinds: [note] })
  await shop.start()
  await client.query(`insert into sluice.worker (name, lease_until, watching) values ('dead', now() - interval '1 s', true)`)
  await client.query(`select pg_notify('sluice', 'watch:')`)
  const { id } = await shop.enqueue(note({}))
  await eventually(async () => (await shop.find(id))?.state === 'succeeded')
  await shop.stop()
  await caughtUp(client, words)
  expect(told(words)).toEqual([])
})

test('[O-04] a process that was declared dead says again that it looks on', async ({ engines, client }) => {
  const engine = engines({ pools: {}, lead: false, lease: '1s' })
  await engine.start()
  engine.watch(() => {})
  await eventually(async () => (await watchers(client)) === 1)
  const before = engine.status().worker
  await client.query('delete from sluice.worker')
  await eventually(async () => engine.status().worker !== before && (await watchers(client)) === 1)
})

test('[O-04] one who throws keeps nobody else from hearing', async ({ engines }) => {
  const engine = engines({ kinds: [note] })
  await engine.start()
  const changes: Change[] = []
  engine.watch(() => {
    throw new Error('no ears')
  })
  engine.watch((change) => changes.push(change))
  const { id } = await engine.enqueue(note({}))
  await eventually(() => heardOf(changes, 'jobs', id))
  expect(engine.status().ready).toBe(true)
})
