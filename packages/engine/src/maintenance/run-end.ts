/**
 * The end of a run, told by the leader: whoever brought the run to its end may be any process, or none of ours, and it is to be told once.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { Fact } from '../support/fact.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'

type RunEnded = Fact & { type: 'run.ended' }
type Row = Omit<RunEnded, 'type' | 'owner'> & { readonly owner: string | null }

export async function tellRunEnd(on: Executor, run: number, { log, witness }: { log: Log; witness: Witness }): Promise<void> {
  try {
    const { rows } = await on.query<Row>(sql`
      select id as run, kind, owner, state, succeeded, failed, canceled, extract(epoch from finished_at - created_at)::float8 * 1000 as "tookMs"
      from sluice.run
      where id = ${run} and finished_at is not null`)
    for (const row of rows) witness.tell({ type: 'run.ended', ...row, owner: row.owner ?? undefined })
  } catch (error) {
    log.warn('the end of a run was not told', { run, reason: String(error) })
  }
}
