/**
 * PostgreSQL answers but cannot store: its disk is full, it takes no writes for a while because another server is about to take over, or it cancels what
 * waits too long. Nobody's work is to blame, so nobody's attempt is: what has run is kept in memory and stored when that is over.
 */
import { defineKind, done, once, silentLog, type TransactionClient } from '@sluice/engine'
import type pg from 'pg'
import { expect } from 'vitest'
import { z } from 'zod'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually, test } from '../support/database.ts'
import { nothingWrong, tally } from '../support/tally.ts'

const kinds = [stepPlain, stepWrite, stepNext, stepBoth]
/** How often a write is tried again that failed by its own doing. */
const ownTriesMax = 12

/** Every end of a job is a row of the ledger, and there is no room for one. */
const fillDisk = `
  create function no_room() returns trigger language plpgsql as
    $$ begin raise exception using errcode = 'disk_full', message = 'could not extend file: No space left on device'; end $$;
  create trigger no_room before insert on sluice.job_ledger for each row execute function no_room()`
const makeRoom = 'drop trigger no_room on sluice.job_ledger'

const cutOthers = (client: pg.Client) =>
  client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )

/** New connections have it, and the old ones are gone. */
async function setForOthers(client: pg.Client, setting: string, value: string): Promise<void> {
  await client.query(`set ${setting} = default`)
  const { rows } = await client.query('select current_database() as name')
  await client.query(`alter database ${rows[0].name} set ${setting} = ${value}`)
  await cutOthers(client)
}

async function setReadOnly(client: pg.Client, readOnly: 'on' | 'off'): Promise<void> {
  await client.query('set default_transaction_read_only = off')
  await setForOthers(client, 'default_transaction_read_only', readOnly)
}

/** Somebody repairs the ledger, and statements of the role may not take long. */
async function lockLedger(client: pg.Client): Promise<void> {
  await setForOthers(client, 'statement_timeout', "'300ms'")
  await client.query('begin; lock table sluice.job_ledger in access exclusive mode')
}

interface Trouble {
  readonly name: string
  readonly begin: (client: pg.Client) => Promise<unknown>
  readonly end: (client: pg.Client) => Promise<unknown>
  /** How often settles have failed until it is over. */
  readonly tries: number
}

const troubles: Trouble[] = [
  {
    name: 'the disk is full',
    begin: (client) => client.query(fillDisk),
    end: (client) => client.query(makeRoom),
    tries: 3 * ownTriesMax,
  },
  {
    name: 'the server takes no writes',
    begin: (client) => setReadOnly(client, 'on'),
    end: (client) => setReadOnly(client, 'off'),
    tries: 3 * ownTriesMax,
  },
  {
    name: 'statements that wait are canceled',
    begin: lockLedger,
    end: (client) => client.query('rollback'),
    tries: ownTriesMax,
  },
]

test.for(troubles.map((trouble) => [trouble.name, trouble] as const))(
  '[E-27] %s for a while: what has run is stored when that is over, and no attempt is burned',
  async ([_name, { begin, end, tries }], { client, engines }) => {
    await client.query(effectTable)
    const ran: number[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    let again = 0
    const engine = engines({
      kinds: stepKinds,
      lease: '60s',
      log: { ...silentLog, warn: (event: string) => void (event === 'settle is tried again' && again++) },
      services: {
        enter: ({ id }: { id: number }) => {
          ran.push(id)
          return gate
        },
      },
    })
    await engine.start()
    const jobs = await engine.enqueueMany(kinds.map((kind, n) => kind({ n })))
    await eventually(() => ran.length === jobs.length)
    await begin(client)
    open()
    await eventually(() => again > tries, 60_000)
    await end(client)
    for (const { id } of jobs) {
      await eventually(async () => (await engine.find(id).catch(() => undefined))?.state === 'succeeded')
      expect(await engine.attempts(id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
    }
    expect(ran.filter((id) => jobs.some((job) => job.id === id))).toHaveLength(jobs.length)
    await eventually(async () => (await client.query('select from sluice.job')).rowCount === 0)
    expect(
      await tally(
        client,
        jobs.map(({ id }) => id),
      ),
    ).toEqual(nothingWrong)
  },
)

test('[E-29] [E-09] a write that says so of itself, or of another server, is a failed attempt and holds up no other', async ({
  client,
  engines,
}) => {
  await client.query('create table kept (n integer)')
  const elsewhere = Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' })
  const writes: Record<string, (tx: TransactionClient) => Promise<unknown>> = {
    elsewhere: () => Promise.reject(elsewhere),
    itself: async (tx) => {
      await tx.query('set transaction read only')
      await tx.query('insert into kept values (1)')
    },
    good: (tx) => tx.query('insert into kept values (2)'),
  }
  const kind = defineKind('write', {
    payload: z.object({ how: z.string(), n: z.int() }),
    retry: once,
    run: ({ payload: { how } }) => done({ write: (tx) => writes[how]!(tx) }),
  })
  const engine = engines({ kinds: [kind], lease: '60s' })
  await engine.start()
  const bad = await engine.enqueueMany(Array.from({ length: 8 }, (_, n) => kind({ how: n % 2 ? 'elsewhere' : 'itself', n })))
  const good = await engine.enqueue(kind({ how: 'good', n: 8 }))
  await eventually(async () => (await engine.find(good.id))?.state === 'succeeded', 60_000)
  for (const { id } of bad)
    await eventually(
      async () => (await engine.find(id))?.error?.message === elsewhere.message && (await engine.find(id))?.state === 'failed',
    )
})
