/**
 * The ends of runs, told by the leader: whoever brought a run to its end may be any process, or none of ours, and it is to be told once.
 *
 * The first is looked up at once; those that are heard of meanwhile share the next look.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { Fact } from '../support/fact.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'

type RunEnded = Fact & { type: 'run.ended' }
type Row = Omit<RunEnded, 'type' | 'owner'> & { readonly owner: string | null }

export class RunEnds {
  readonly #on: Executor
  readonly #log: Log
  readonly #witness: Witness
  #heard: number[] = []
  #looking = false

  constructor(on: Executor, log: Log, witness: Witness) {
    this.#on = on
    this.#log = log
    this.#witness = witness
  }

  hear(run: number): void {
    this.#heard.push(run)
    if (!this.#looking) void this.#tell()
  }

  async #tell(): Promise<void> {
    this.#looking = true
    while (this.#heard.length > 0) await this.#look(this.#heard.splice(0))
    this.#looking = false
  }

  async #look(runs: readonly number[]): Promise<void> {
    try {
      const { rows } = await this.#on.query<Row>(sql`
        select id as run, kind, owner, state, succeeded, failed, canceled, extract(epoch from finished_at - created_at)::float8 * 1000 as "tookMs"
        from sluice.run
        where id = any(${runs}::bigint[]) and finished_at is not null
        order by finished_at, id`)
      for (const row of rows) this.#witness.tell({ type: 'run.ended', ...row, owner: row.owner ?? undefined })
    } catch (error) {
      this.#log.warn('ends of runs were not told', { runs, reason: String(error) })
    }
  }
}
