/**
 * Counts what became of jobs of test/programs/step-kinds.ts: a total check after Jepsen's "total queue". Every acknowledged job must be in
 * the ledger once, as succeeded; every job that writes must have left one effect; every parent must have all of its children once; and
 * there must be nothing else.
 */
import type pg from 'pg'
import { childrenEach } from '../programs/step-kinds.ts'
import { eventually } from './database.ts'

export interface Tally {
  readonly lost: string[]
  readonly doubled: string[]
  readonly unexpected: string[]
}

export const nothingWrong: Tally = { lost: [], doubled: [], unexpected: [] }

/** Resolves when no job is left that could still run; says what is left when that takes too long. */
export async function drained(client: pg.Client, deadlineMs?: number): Promise<void> {
  const nothingLeft = async (): Promise<boolean> => {
    const { rows } = await client.query(`select from sluice.job where shelf is distinct from 'failed' limit 1`)
    return rows.length === 0
  }
  await eventually(nothingLeft, deadlineMs).catch(async (cause: unknown) => {
    const { rows } = await client.query(`
      select sluice.now(), (select json_agg(w) from sluice.worker w) as workers, (select json_agg(l) from sluice.leader l) as leader,
             (select json_agg(j) from (select shelf, kind, worker, crashes, cancel_at, count(*) from sluice.job group by 1, 2, 3, 4, 5) j) as jobs`)
    throw new Error(`jobs are left: ${JSON.stringify(rows[0])}`, { cause })
  })
}

interface Found {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly parent: string | null
}

export async function tally(client: pg.Client, acknowledged: readonly number[]): Promise<Tally> {
  const { rows: ledger } = await client.query<Found>('select id, kind, state, parent from sluice.job_ledger')
  const { rows: live } = await client.query<Found>(
    'select id, kind, sluice.state_of(shelf, worker) as state, parent from sluice.job',
  )
  const { rows: effects } = await client.query<{ job: string }>('select job from effect')
  const wanted = new Set(acknowledged.map(String))
  const booked = count(ledger.map(({ id }) => id))
  const written = count(effects.map(({ job }) => job))
  const children = count(ledger.map(({ parent }) => parent ?? 'none'))
  const [lost, doubled, unexpected] = [[] as string[], [] as string[], [] as string[]]

  for (const id of wanted) if (!booked.has(id)) lost.push(`job ${id} is not in the ledger`)
  for (const [id, times] of booked) if (times > 1) doubled.push(`job ${id} is in the ledger ${times} times`)
  for (const { id, kind, state, parent } of ledger) {
    if (state !== 'succeeded') unexpected.push(`job ${id} ended as ${state}`)
    if (!wanted.has(id) && !(parent && wanted.has(parent))) unexpected.push(`nobody asked for job ${id}`)
    compare(`effects of ${kind} ${id}`, written.get(id) ?? 0, /write|both/.test(kind) ? 1 : 0, lost, doubled)
    compare(`children of ${kind} ${id}`, children.get(id) ?? 0, /next|both/.test(kind) ? childrenEach : 0, lost, doubled)
  }
  for (const { id, kind, state } of live) unexpected.push(`${kind} ${id} is still ${state}`)
  for (const id of written.keys()) if (!booked.has(id)) unexpected.push(`job ${id} left an effect and never ended`)
  return { lost, doubled, unexpected }
}

function compare(what: string, seen: number, due: number, lost: string[], doubled: string[]): void {
  if (seen < due) lost.push(`${what}: ${seen} instead of ${due}`)
  if (seen > due) doubled.push(`${what}: ${seen} instead of ${due}`)
}

function count(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
