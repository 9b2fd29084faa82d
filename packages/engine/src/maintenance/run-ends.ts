/**
 * The ends of runs, told by the leader: whoever brought a run to its end may be any process, or none of ours, and it is to be told once.
 *
 * The first is looked up at once; those that are heard of meanwhile share the next look.
 */
import type { Database, Statement } from '../postgres/database.ts'
import type { Fact } from '../support/fact.ts'
import type { Log } from '../support/log.ts'
import type { Witness } from '../support/witness.ts'

type RunEnded = Fact & { type: 'run.ended' }
type Row = [
  run: number,
  kind: string,
  owner: string | null,
  state: RunEnded['state'],
  succeeded: number,
  failed: number,
  canceled: number,
  tookMs: number,
]

const statement: Statement = {
  name: 'sluice_run_ends',
  text: `select id, kind, owner, state, succeeded, failed, canceled, extract(epoch from finished_at - created_at)::float8 * 1000
         from sluice.run where id = any($1::bigint[]) and finished_at is not null order by finished_at, id`,
}

export class RunEnds {
  readonly #database: Database
  readonly #log: Log
  readonly #witness: Witness
  #heard: number[] = []
  #looking = false

  constructor(database: Database, log: Log, witness: Witness) {
    this.#database = database
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
      const rows = await this.#database.send<Row>(this.#database.pool, statement, [runs])
      for (const [run, kind, owner, state, succeeded, failed, canceled, tookMs] of rows)
        this.#witness.tell({
          type: 'run.ended',
          run,
          kind,
          owner: owner ?? undefined,
          state,
          succeeded,
          failed,
          canceled,
          tookMs,
        })
    } catch (error) {
      this.#log.warn('ends of runs were not told', { runs, reason: String(error) })
    }
  }
}
