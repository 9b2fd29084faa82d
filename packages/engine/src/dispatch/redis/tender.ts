/**
 * Tender: looks after the keys of one pool, in one process at a time.
 *
 * Whoever holds the pool's lock in Redis moves delayed ids when they fall due, takes over what dead processes left behind, and brings what PostgreSQL
 * says is ready and nobody offered. It acts when it is told to: by a wake-up of PostgreSQL, by the news of the pool, by the heartbeat that found work, by
 * its timer for the next due time, and once when it takes the lock. With nothing to do it sends one renewal every third of the lock's time.
 */
import type { Database } from '../../postgres/database.ts'
import type { Clock, Timer } from '../../support/clock.ts'
import type { Carrier } from './carrier.ts'
import { statesOf } from './claim-ids.ts'
import type { Client } from './connection.ts'
import type { Entry, Refused } from './redis-supply.ts'
import { runScript } from './scripts.ts'

export interface TenderOptions {
  readonly pool: string
  readonly prefix: string
  readonly holder: string
  readonly lockMs: number
  readonly database: Database
  readonly clock: Clock
  readonly client: () => Client
  readonly carrier: Pick<Carrier, 'refill' | 'bring' | 'ask'>
  /** Groups that are gone are made again. */
  readonly prepare: () => Promise<void>
  readonly refuse: (refused: readonly Refused[]) => Promise<void>
  readonly onTakenOver: (jobs: number) => void
  readonly onTrouble: (error: unknown) => void
}

const dueBatch = 500
const takeOverBatch = 500
/** Whoever took an id claims it in a moment; one that is not claimed by then, or was rescued since, is nobody's. */
const untouchedMs = 1_000
/** Looks follow one another no closer than that, and under load take no more than a third of the time. */
const gapMsMin = 10
const gapMsMax = 1_000
/** After the lock of somebody else has run out. */
const slackMs = 20

export class Tender {
  readonly #options: TenderOptions
  #leads = false
  #resting = true
  #renewal: Timer | undefined
  #due: Timer | undefined
  #dueAtMs = Number.POSITIVE_INFINITY
  #soon: Timer | undefined
  #last: Timer | undefined
  #looking: Promise<void> | undefined
  #again = false
  #notBeforeMs = 0

  constructor(options: TenderOptions) {
    this.#options = options
  }

  get leads(): boolean {
    return this.#leads
  }

  /** Redis is there: from now on it wants the lock. */
  start(): void {
    if (!this.#resting) return
    this.#resting = false
    void this.#hold()
  }

  /** Redis is away, or this process leaves. */
  rest(): void {
    this.#resting = true
    this.#leads = false
    this.#renewal?.cancel()
    this.#due?.cancel()
    this.#soon?.cancel()
    this.#last?.cancel()
    this.#soon = undefined
    this.#dueAtMs = Number.POSITIVE_INFINITY
  }

  /** Whoever held the lock has let it go. */
  hearFree(): void {
    if (!this.#leads) void this.#hold()
  }

  async resign(): Promise<void> {
    const { client, prefix, holder } = this.#options
    const led = this.#leads
    this.rest()
    await this.#looking
    if (led) await runScript(client(), 'resign', prefix, [holder]).catch(() => {})
  }

  /** There may be something in PostgreSQL that Redis does not hold. */
  look(): void {
    if (!this.#leads) return
    if (this.#looking) this.#again = true
    else this.#soon ??= this.#options.clock.after(this.#notBeforeMs - this.#options.clock.monotonic(), () => void this.lookNow())
  }

  /** Something falls due at that time of Redis's. */
  hearDue(inMs: number): void {
    if (!this.#leads) return
    const { clock } = this.#options
    const atMs = clock.monotonic() + Math.max(0, inMs)
    if (atMs >= this.#dueAtMs) return
    this.#due?.cancel()
    this.#dueAtMs = atMs
    this.#due = clock.after(Math.max(0, inMs), () => void this.#act(() => this.#moveDue()))
  }

  lookNow({ last = false } = {}): Promise<void> {
    if (this.#resting || !this.#leads) return Promise.resolve()
    if (this.#looking) {
      this.#again = true
      return this.#looking
    }
    // One that was asked for and has not begun yet is this one.
    const asked = !last || this.#soon !== undefined
    this.#soon?.cancel()
    this.#soon = undefined
    this.#last?.cancel()
    this.#looking = this.#look().then((handedOut) => {
      this.#looking = undefined
      if (this.#again) this.look()
      // What was taken or touched just now and is ready all the same can be told apart only later; so can what was handed out again, maybe to one that
      // has died in its read.
      else if ((asked || handedOut > 0) && this.#leads)
        this.#last = this.#options.clock.after(untouchedMs + slackMs, () => void this.lookNow({ last: true }))
      this.#again = false
    })
    return this.#looking
  }

  /** Answers how many were handed out again. */
  async #look(): Promise<number> {
    const { clock, carrier, pool } = this.#options
    const startMs = clock.monotonic()
    let more = false
    let handedOut = 0
    await this.#act(async () => {
      more = await carrier.refill(pool)
      handedOut = await this.#takeOver()
    })
    const endMs = clock.monotonic()
    // Of a long queue only the front was brought: when it runs out, somebody waits.
    this.#notBeforeMs = endMs + (more ? gapMsMin : Math.min(gapMsMax, Math.max(gapMsMin, (endMs - startMs) * 2)))
    return handedOut
  }

  async #hold(): Promise<void> {
    const { clock, client, prefix, holder, lockMs, prepare } = this.#options
    let waitMs = lockMs
    await this.#act(async () => {
      const got = await runScript<number>(client(), 'lead', prefix, [holder, lockMs])
      waitMs = got > 0 ? lockMs / 3 : -got + slackMs
      this.#leads = got > 0 && !this.#resting
      // Taken anew: the last holder died, or everything is gone.
      if (got === 2 && this.#leads) {
        await prepare()
        await this.lookNow()
        await this.#moveDue()
      }
    })
    if (this.#resting) return
    this.#renewal?.cancel()
    this.#renewal = clock.after(waitMs, () => void this.#hold())
  }

  async #moveDue(): Promise<void> {
    const { client, prefix, carrier, pool } = this.#options
    this.#dueAtMs = Number.POSITIVE_INFINITY
    for (let moved = dueBatch; moved === dueBatch && this.#leads; ) {
      const [count, lanes, next] = await runScript<[number, string[], string]>(client(), 'move-due', prefix, [dueBatch])
      moved = count
      await carrier.ask(pool, lanes)
      if (next !== '') this.hearDue(Number(next))
    }
  }

  /** Entries that nobody has touched for a while: PostgreSQL says whether somebody still works on them. What was looked at is touched, so each is met once. */
  async #takeOver(): Promise<number> {
    const { client, prefix, holder, lockMs } = this.#options
    let handedOut = 0
    const args = [`leader:${holder}`, Math.min(lockMs / 2, untouchedMs), takeOverBatch]
    for (let found = takeOverBatch; found >= takeOverBatch && this.#leads; ) {
      const rows = await runScript<[number, string, string][]>(client(), 'take-over', prefix, args)
      found = rows.length
      if (found > 0)
        handedOut += await this.#judge(rows.map(([priorityClass, entry, id]) => ({ id: Number(id), priorityClass, entry })))
    }
    return handedOut
  }

  async #judge(entries: readonly Entry[]): Promise<number> {
    const { client, prefix, database, refuse, carrier, onTakenOver } = this.#options
    const states = await statesOf(
      database,
      entries.map(({ id }) => id),
    )
    const refused = entries.flatMap((one): Refused[] => {
      const state = states.get(one.id)
      return state === 'running' ? [] : [{ ...one, what: state === 'ready' ? 'again' : 'drop', ms: undefined }]
    })
    await refuse(refused)
    await carrier.bring(entries.filter(({ id }) => states.get(id) === 'scheduled').map(({ id }) => id))
    const again = refused.filter(({ what }) => what === 'again').length
    if (again > 0) {
      onTakenOver(again)
      await client().incrby(`${prefix}taken-over`, again)
    }
    return again
  }

  async #act(deed: () => Promise<void>): Promise<void> {
    if (this.#resting) return
    try {
      await deed()
    } catch (error) {
      if (!this.#resting) this.#options.onTrouble(error)
    }
  }
}
