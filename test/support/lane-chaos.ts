/**
 * What outsiders do to lanes while jobs run: they lock rows and let them go, pause and resume, change caps, hold. And the windows that such
 * things have to hit, forced open: the functions that lock lanes sleep between their locks and their look.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Engine } from '@sluice/engine'
import pg from 'pg'

/** Where each function has its locks and is about to look. */
const windows: readonly [name: string, before: string][] = [
  ['claim_laned', '  return query\n  with door'],
  ['take_plain', '  return query\n  with door'],
  ['leave_lanes', '  if not counts and said is null'],
  ['reopen', '  with looked as'],
]

export async function openWindows(client: pg.Client, sleepMs: number): Promise<void> {
  for (const [name, before] of windows) await inject(client, name, before, `perform pg_sleep(random() * ${sleepMs / 1_000});`)
}

/** Replaces a function by a copy of it that does something more before a certain place. */
export async function inject(client: pg.Client, name: string, before: string, what: string): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select pg_get_functiondef(p.oid) as text from pg_proc p where p.pronamespace = 'sluice'::regnamespace and p.proname = $1`,
    [name],
  )
  const text = rows[0]!.text
  if (text.split(before).length !== 2) throw new Error(`${name} has no such place`)
  await client.query(text.replace(before, `  ${what}\n${before}`))
}

export interface Place {
  readonly lanes: readonly string[]
  readonly owners: readonly string[]
}

/** Does one of these things after the other until `over`, and undoes what would last. */
export async function disturb(url: string, engine: Engine, { lanes, owners }: Place, over: () => boolean): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const pick = (from: readonly string[]): string => from[Math.floor(Math.random() * from.length)] as string
  let done = 0
  try {
    for (; !over(); done++) {
      const [lane, owner, dice] = [pick(lanes), pick(owners), Math.random()]
      if (dice < 0.3) await lockJobs(client, lane)
      else if (dice < 0.55) await during(engine, { scope: 'lane', name: lane })
      else if (dice < 0.7) await during(engine, { scope: 'owner', name: owner })
      else if (dice < 0.75) await during(engine, { scope: 'kind', name: 'lane.work' })
      else if (dice < 0.9) await engine.lanes.hold(lane, new Date(Date.now() + 50))
      else
        await client.query('select sluice.change_lane($1, $2)', [
          lane,
          JSON.stringify({ weight: 1 + Math.floor(Math.random() * 4) }),
        ])
      await wait(Math.random() * 20)
    }
  } finally {
    await client.end()
  }
  return done
}

/** Somebody looks at waiting jobs for update, thinks, and gives up. */
async function lockJobs(client: pg.Client, lane: string): Promise<void> {
  await client.query('begin')
  await client.query(
    `select from sluice.job where lane = $1 and shelf is null and worker is null order by rank for update skip locked`,
    [lane],
  )
  await wait(Math.random() * 60)
  await client.query('rollback')
}

async function during(engine: Engine, target: Parameters<Engine['pause']>[0]): Promise<void> {
  await engine.pause(target)
  await wait(Math.random() * 80)
  await engine.resume(target)
}
