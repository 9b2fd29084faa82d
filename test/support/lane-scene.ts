/**
 * Lanes by hand: claims and settles are called as statements on connections of the test's own, so that a test decides what happens
 * between them and can hold one of them open.
 */
import pg from 'pg'
import { test as base } from './database.ts'

export interface Taken {
  readonly id: number
  readonly fence: number
  readonly lane: string
  readonly priority: number
}

export interface JobFields {
  readonly pool?: string
  readonly owner?: string
  readonly cost?: number
  readonly priority?: number
  readonly key?: string
  readonly mode?: string
}

/** Not one that the identity column would give to an engine. */
export const worker = 1_000_000
const lanesMax = 16

export class LaneScene {
  readonly client: pg.Client
  readonly #open: () => Promise<pg.Client>

  constructor(client: pg.Client, open: () => Promise<pg.Client>) {
    this.client = client
    this.#open = open
  }

  /** Another connection. */
  session(): Promise<pg.Client> {
    return this.#open()
  }

  async enqueue(lane: string | undefined, count = 1, fields: JobFields = {}, on = this.client): Promise<void> {
    const job = { kind: 'call', payload: {}, ...(lane === undefined ? {} : { lane }), ...fields }
    await on.query('select sluice.enqueue_many($1, false)', [JSON.stringify(Array.from({ length: count }, () => job))])
  }

  /** With `ahead`, lanes that count nothing are looked at the short way. */
  async claim(slots: number, on = this.client, pool = 'light', ahead = 0): Promise<{ again: boolean; jobs: Taken[] }> {
    const { rows } = await on.query(
      `select again, id::int, fence, lane, (select priority from sluice.job j where j.id = c.id) as priority
       from sluice.claim_laned($1, ${worker}, $2, $3, ${lanesMax}, '{}') c`,
      [pool, slots, ahead],
    )
    return { again: rows[0].again, jobs: rows.filter(({ id }) => id !== null) as Taken[] }
  }

  async claimOpen(slots: number, on = this.client): Promise<Taken[]> {
    const { rows } = await on.query(
      `select id::int, fence, '' as lane, 0 as priority from sluice.claim('light', ${worker}, $1, -1e15::bigint, '{}')`,
      [slots],
    )
    return rows as Taken[]
  }

  async settle(jobs: readonly Taken[], on = this.client): Promise<void> {
    await on.query('select sluice.settle_done($1::bigint[], $2::bigint[], true)', [
      jobs.map(({ id }) => id),
      jobs.map(({ fence }) => fence),
    ])
  }

  /** Ends them in another way; `said` is what a server answered about the budget of their lane. */
  async end(
    jobs: readonly Taken[],
    outcome: string,
    { said, refund = 0, on = this.client }: { said?: object; refund?: number | null; on?: pg.Client } = {},
  ): Promise<void> {
    await on.query(
      `select sluice.settle(${worker}, $1::bigint[], $2::bigint[], $3::text[], $4::float8[], $5::timestamptz[], $6::jsonb[], $7::int[], $8::jsonb, true)`,
      [
        jobs.map(({ id }) => id),
        jobs.map(({ fence }) => fence),
        jobs.map(() => outcome),
        jobs.map(() => 0),
        jobs.map(() => null),
        jobs.map(() => null),
        jobs.map(() => refund),
        said ? JSON.stringify([{ lane: jobs[0]?.lane, ...said }]) : null,
      ],
    )
  }

  async change(lane: string, change: object, on = this.client): Promise<void> {
    await on.query('select sluice.change_lane($1, $2)', [lane, JSON.stringify(change)])
  }

  async changeOwner(owner: string, change: object, on = this.client): Promise<void> {
    await on.query('select sluice.change_owner($1, $2)', [owner, JSON.stringify(change)])
  }

  async lane(key: string): Promise<{ remaining: number | null; in_flight: number; shut: boolean; owner: string | null }> {
    const { rows } = await this.client.query('select remaining, in_flight, shut, owner from sluice.lane where key = $1', [key])
    return rows[0]
  }

  /** Claims and ends jobs as `slots` slots that become free at once would, and counts them by lane. */
  async shares(rounds: number, slots: number): Promise<Map<string, number>> {
    const counts = new Map<string, number>()
    for (let round = 0; round < rounds; round++) {
      const { jobs } = await this.claim(slots)
      for (const { lane } of jobs) counts.set(lane, (counts.get(lane) ?? 0) + 1)
      if (jobs.length > 0) await this.settle(jobs)
    }
    return counts
  }
}

export const test = base.extend<{ scene: LaneScene }>({
  scene: async ({ database, client }, use) => {
    const opened: pg.Client[] = []
    await client.query(`insert into sluice.kind (name) values ('call')`)
    await client.query(`insert into sluice.worker (id, name, lease_until) values (${worker}, 'me', now() + interval '1 h')`)
    await client.query(`update sluice.leader set term = 1, worker = ${worker}, until = now() + interval '1 h'`)
    await use(
      new LaneScene(client, async () => {
        const one = new pg.Client(database.url)
        opened.push(one)
        await one.connect()
        return one
      }),
    )
    await Promise.all(opened.map((one) => one.end()))
  },
})
