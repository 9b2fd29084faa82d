/** A process that is idle, and lone jobs that are handed to it. */
import { defineKind, type Engine, type EngineOptions } from '@sluice/engine'
import type pg from 'pg'
import { z } from 'zod'
import { eventually } from './database.ts'
import { test as base } from './processes.ts'

export interface Scene {
  /** Ids of the jobs of kind `note`, as they ran. */
  readonly ran: number[]
  readonly note: ReturnType<typeof noteInto>
  /** Started, and known to be idle. */
  idle(options?: Partial<EngineOptions>): Promise<Engine>
  /** As an engine enqueues a lone job. */
  enqueue(on?: pg.Client, kind?: string, payload?: object): Promise<{ id: number; handedOver: boolean }>
  /** How many processes offer themselves. */
  offers(): Promise<number>
  /** Its row in the ledger. */
  ended(id: number): Promise<{ attempt: number; state: string; worker: number }>
  cutListeners(): Promise<unknown>
}

const noteInto = (ran: number[]) => defineKind('note', { payload: z.looseObject({}), run: ({ id }) => void ran.push(id) })
/** No heartbeat comes of itself within a test. */
export const longLease = '10m'

export const test = base.extend<{ scene: Scene }>({
  scene: async ({ client, engines }, use) => {
    const ran: number[] = []
    const note = noteInto(ran)
    const offers = async (): Promise<number> => {
      const { rows } = await client.query(
        `select count(*)::int as n from pg_locks
         where locktype = 'advisory' and classid = 1936487785 and mode = 'ExclusiveLock' and granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows[0].n
    }
    await use({
      ran,
      note,
      offers,
      async idle(options) {
        const before = await offers()
        const engine = engines({ kinds: [note], lease: longLease, ...options })
        await engine.start()
        await eventually(async () => (await offers()) === before + 1)
        return engine
      },
      async enqueue(on = client, kind = 'note', payload = {}) {
        const { rows } = await on.query('select id::int, handed_over from sluice.enqueue_lone($1, $2, true, null, true)', [
          kind,
          JSON.stringify(payload),
        ])
        return { id: rows[0].id, handedOver: rows[0].handed_over === true }
      },
      ended: (id) =>
        eventually(async () => {
          const { rows } = await client.query('select attempt, state, worker::int from sluice.job_ledger where id = $1', [id])
          return rows[0]
        }),
      cutListeners: () =>
        client.query(
          `select pg_terminate_backend(pid, 20000) from pg_stat_activity where datname = current_database() and application_name = 'sluice listen'`,
        ),
    })
  },
})
