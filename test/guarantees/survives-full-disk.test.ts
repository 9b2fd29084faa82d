/**
 * PostgreSQL answers but cannot store: its disk is full, or it takes no writes for a while because another server is about to take over. Nobody's statement
 * is to blame, so nobody's attempt is: what has run is kept in memory and stored when that is over.
 */
import { silentLog } from '@sluice/engine'
import type pg from 'pg'
import { expect } from 'vitest'
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

/** New connections take no writes, and the old ones are gone. */
async function setReadOnly(client: pg.Client, readOnly: boolean): Promise<void> {
  await client.query('set default_transaction_read_only = off')
  const { rows } = await client.query('select current_database() as name')
  await client.query(`alter database ${rows[0].name} set default_transaction_read_only = ${readOnly}`)
  await cutOthers(client)
}

const troubles: [name: string, begin: (client: pg.Client) => Promise<unknown>, end: (client: pg.Client) => Promise<unknown>][] = [
  ['the disk is full', (client) => client.query(fillDisk), (client) => client.query(makeRoom)],
  ['the server takes no writes', (client) => setReadOnly(client, true), (client) => setReadOnly(client, false)],
]

test.for(troubles)(
  '[E-27] %s for a while: what has run is stored when that is over, and no attempt is burned',
  async ([_name, begin, end], { client, engines }) => {
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
    await eventually(() => again > 3 * ownTriesMax, 60_000)
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
