/**
 * The clock of database sessions: what they take for now is so much later than it is. A connection that comes later joins the others.
 */
import type pg from 'pg'

export class SessionClock {
  readonly #sessions = new Set<pg.ClientBase>()
  #offsetMs = 0

  get offsetMs(): number {
    return this.#offsetMs
  }

  async join(client: pg.ClientBase): Promise<void> {
    this.#sessions.add(client)
    client.once('end', () => this.#sessions.delete(client))
    await this.#turn(client)
  }

  async turnTo(offsetMs: number): Promise<void> {
    this.#offsetMs = offsetMs
    await Promise.all([...this.#sessions].map((client) => this.#turn(client)))
  }

  async #turn(client: pg.ClientBase): Promise<void> {
    await client.query(`select set_config('sluice.clock_offset', $1, false)`, [`${this.#offsetMs} milliseconds`])
  }
}
