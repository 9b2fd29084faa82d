/**
 * The floor: the very statements that Sluice sends, in a bare loop. No handlers, no pool, no retries, no listening; what is
 * left is what PostgreSQL and the driver cost. Nothing that sends these statements can be faster.
 *
 * The texts are checked against what PostgreSQL saw the engine send (`proof.ts`), so they cannot drift apart. Claims and
 * settles overlap, two of each, on connections of their own. The sizes are the engine's own under
 * load; claims of 250, 500 and 2,000 and settles of 250 and 1,000 were tried; none was clearly faster.
 */
import { Pool, types } from 'pg'
import type { Contender, Place, Session } from './contender.ts'
import { observe } from './observer.ts'

export const claimText =
  'select id, fence, kind, payload, attempt, max_attempts, crashes, rank, owner, root, created_ms, run, event, priority, trace from sluice.claim($1, $2, $3, $4, $5)'
export const settleText =
  'select stale, in_lanes::text, in_runs::text, below from sluice.settle_done($1::bigint[], $2::bigint[], $3, $4)'
export const enqueueText = 'select ids, existing from sluice.enqueue_alike($1, $2::jsonb, $3, $4, $5)'

const claimSize = 500
const settleSize = 500
const settlesUnderWayMax = 2
const slackMs = 50

type ClaimRow = [
  id: number,
  fence: number,
  kind: string,
  payload: string,
  attempt: number,
  of: number,
  crashes: number,
  rank: number,
]

const bigintAsNumber = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === 20 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
}

function open(place: Place): Session {
  const pool = new Pool({ connectionString: place.databaseUrl, max: 4, types: bigintAsNumber })
  pool.on('error', () => {})
  const observer = observe(place.databaseUrl)
  const send = async <Row extends unknown[]>(name: string, text: string, values: unknown[]) =>
    (await pool.query<Row>({ name, text, values, rowMode: 'array' })).rows
  const settle = (rows: readonly ClaimRow[]) =>
    send('settle', settleText, [
      `{${rows.map(([id]) => id).join(',')}}`,
      `{${rows.map(([, fence]) => fence).join(',')}}`,
      true,
      2_000,
    ])
  const unsupported = () => Promise.reject(new Error('the floor only enqueues in bulk and drains'))

  async function loop(onJob: (n: number) => void): Promise<void> {
    const registered = await pool.query<{ id: number }>(
      `insert into sluice.worker (name, lease_until) values ('floor', sluice.now() + interval '1 h') returning id`,
    )
    const worker = registered.rows[0]?.id
    let since = Number.MIN_SAFE_INTEGER
    let count = 0
    const settling = new Set<Promise<unknown>>()
    const claim = () => send<ClaimRow>('claim', claimText, ['light', worker, claimSize, since, []])
    const claims = [claim(), claim()]
    for (let claiming = claims.shift(); claiming; claiming = claims.shift()) {
      const rows = await claiming
      if (rows.length === 0) continue
      since = Math.max(...rows.map((row) => row[7])) - slackMs
      claims.push(claim())
      for (let from = 0; from < rows.length; from += settleSize) {
        if (settling.size >= settlesUnderWayMax) await Promise.race(settling)
        const underWay: Promise<unknown> = settle(rows.slice(from, from + settleSize)).finally(() => settling.delete(underWay))
        settling.add(underWay)
      }
      for (let each = 0; each < rows.length; each += 1) onJob(count++)
    }
    await Promise.all(settling)
  }

  return {
    async prepare() {
      const sluice = (await import('./sluice.ts')).tuned.open(place)
      await sluice.prepare()
      await sluice.close()
    },
    connect: async () => void (await pool.query('select 1')),
    async enqueueBulk(numbers) {
      const payloads = `[${numbers.map((n) => `{"n":${n}}`).join(',')}]`
      await send('enqueue', enqueueText, ['bench.noop', payloads, true, null, 500])
    },
    enqueueOne: unsupported,
    enqueueAt: unsupported,
    async work(onJob) {
      const looping = loop(onJob)
      return () => looping
    },
    unsettled: () => observer.count('sluice.queued'),
    allSettled: () => observer.none('sluice.queued'),
    async close() {
      await pool.end()
      await observer.close()
    },
  }
}

export const floor: Contender = { bulk: { size: 5000, parallel: 2 }, open }
