/**
 * Parker: moves the jobs of a paused kind aside, so that claims do not walk over them, and brings them back when the kind goes on.
 *
 * Only comfort: every claim reads the pauses itself, so a pause holds from the moment it commits. The same round frees jobs that waited
 * for the end of another and were missed by its settle, and moves suspects whose owner got limits into the owner's lane.
 */
import type { Database, Statement } from '../postgres/database.ts'
import type { Log } from '../support/log.ts'

const statement: Statement = { name: 'sluice_park', text: 'select sluice.park($1, $2)' }
const batchSize = 5_000

export class Parker {
  readonly #database: Database
  readonly #log: Log
  readonly #term: () => number | undefined
  #working = false

  constructor(database: Database, log: Log, term: () => number | undefined) {
    this.#database = database
    this.#log = log
    this.#term = term
  }

  async runOnce(): Promise<void> {
    if (this.#working) return
    this.#working = true
    try {
      for (let more = true; more; ) {
        const term = this.#term()
        if (term === undefined) return
        const [row] = await this.#database.send<[boolean]>(this.#database.hot, statement, [term, batchSize])
        more = row?.[0] ?? false
      }
    } catch (error) {
      this.#log.warn('parking failed', { reason: String(error) })
    } finally {
      this.#working = false
    }
  }
}
