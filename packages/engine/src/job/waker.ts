/**
 * Waker: decides when an enqueue carries its own wake-up and when a later one speaks for many.
 *
 * NOTIFY takes an instance-wide lock at commit (64 enqueuers: 19 k/s without, 3.5 k/s with one each), so the first enqueue after a quiet
 * moment notifies inside its statement and those of the next few milliseconds share one that follows them. Workers of this process are
 * told directly. A lone job may go to a process that is idle, without any wake-up (migrations/0020).
 */
import type { Database, Statement } from '../postgres/database.ts'
import type { Clock, Timer } from '../support/clock.ts'
import type { EncodedRequest } from './request.ts'

const quietMs = 5
const nobodyIdleMs = 50

const statement: Statement = {
  name: 'sluice_wake',
  text: `select set_config('synchronous_commit', 'off', true), pg_notify('sluice', message) from unnest($1::text[]) as message`,
}

export function topicsFor(
  { pool, laned }: EncodedRequest,
  kind: { pool: string; lane: string | undefined } | undefined,
): string[] {
  const where = pool ?? kind?.pool ?? '*'
  if (kind && !laned) return [`${kind.lane === undefined ? 'ready' : 'turn'}:${where}`]
  return [`ready:${where}`, `turn:${where}`]
}

export interface WakerOptions {
  readonly database: Database
  readonly clock: Clock
  /** Who is to be woken for it: 'ready:POOL' for the open lane, 'turn:POOL' for the others, both when this process cannot tell. */
  readonly topicsOf: (request: EncodedRequest) => readonly string[]
  /** Workers of this process need no message. */
  readonly wakeHere: (topic: string) => void
}

export class Waker {
  readonly #options: WakerOptions
  readonly #topics = new Set<string>()
  #lastMs = Number.NEGATIVE_INFINITY
  #lookForIdleMs = Number.NEGATIVE_INFINITY
  #due = false
  #timer: Timer | undefined

  constructor(options: WakerOptions) {
    this.#options = options
  }

  /** True when this enqueue should notify inside its own statement. */
  leads(): boolean {
    const now = this.#options.clock.monotonic()
    if (now - this.#lastMs < quietMs) return false
    this.#lastMs = now
    return true
  }

  /** Where nobody was idle a moment ago, to look again would cost each enqueue a third more for nothing. */
  mayFindIdle(): boolean {
    return this.#options.clock.monotonic() >= this.#lookForIdleMs
  }

  foundIdle(found: boolean): void {
    this.#lookForIdleMs = found ? Number.NEGATIVE_INFINITY : this.#options.clock.monotonic() + nobodyIdleMs
  }

  /** These are stored. If they did not notify themselves, one wake-up soon speaks for them. */
  stored(requests: readonly EncodedRequest[], notified: boolean): void {
    const topics = new Set<string>()
    let [last, due]: [EncodedRequest | undefined, boolean] = [undefined, false]
    requests.forEach((request) => {
      if (request.delayed) due = true
      else if (last?.kind !== request.kind || last.pool !== request.pool || last.laned !== request.laned) {
        last = request // most groups are of one kind: they ask once
        for (const topic of this.#options.topicsOf(request)) topics.add(topic)
      }
    })
    for (const topic of topics) this.#options.wakeHere(topic)
    if (notified) return
    for (const topic of topics) this.#topics.add(topic)
    this.#due ||= due
    this.#timer ??= this.#options.clock.after(quietMs, () => void this.flush())
  }

  /** Sends the wake-up that is due, if one is; a process that leaves does not take it along. */
  async flush(): Promise<void> {
    if (!this.#timer) return
    this.#timer.cancel()
    this.#timer = undefined
    this.#lastMs = this.#options.clock.monotonic()
    const messages = [...this.#topics]
    if (this.#due) messages.push('due:0') // which one is first, the leader asks for itself
    this.#topics.clear()
    this.#due = false
    // The jobs are stored; a wake-up that fails here is made good by the next heartbeat.
    const { database } = this.#options
    await database.send(database.intake, statement, [messages]).catch(() => {})
  }
}
