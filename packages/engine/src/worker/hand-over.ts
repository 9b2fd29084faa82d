/**
 * Hand-over: a process that runs nothing offers itself, and the next lone enqueue makes its job as a claim of that process (migrations/0020). The
 * claim arrives with the commit of the enqueue, over a channel that only this process and the database know: no wake-up of others, no claim to send.
 *
 * Whatever gets lost on the way is a claim that this process does not know of, and the audit hands it back. An audit is due after every reconnect, and
 * when a heartbeat finds a claim that should be here by now; then the connection is made anew, for it seems to be deaf. What was handed over before an
 * audit and arrives after it is void: the audit has handed it back.
 */
import { type Claim, type ClaimRow, toClaim } from '../dispatch/claim.ts'
import type { AnyKind } from '../job/kind.ts'
import type { Database, Statement } from '../postgres/database.ts'
import type { OwnChannel } from '../postgres/listener.ts'
import { type Clock, pause } from '../support/clock.ts'
import { noProbe, type Probe } from '../support/fail-point.ts'
import type { Log } from '../support/log.ts'
import type { ClaimGate } from './claim-gate.ts'
import type { HeldClaims } from './held-claims.ts'
import type { Pool } from './pool.ts'
import { auditWorker } from './register.ts'

export interface HandOverOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly probe: Probe
  readonly gate: ClaimGate
  readonly held: HeldClaims
  readonly kinds: ReadonlyMap<string, AnyKind>
  readonly pools: Readonly<Record<string, unknown>>
  readonly worker: () => number
  /** Runs nothing and may claim. */
  readonly isIdle: () => boolean
  /** False once this process may have been declared dead. */
  readonly trusted: () => boolean
  readonly poolOf: (name: string) => Pool | undefined
  /** Takes hold of claims and answers those that this process will run. */
  readonly admit: (claims: Claim[]) => Claim[]
  readonly giveBack: (claims: readonly Claim[]) => void
  readonly beatNow: () => void
  readonly lookAgain: () => void
}

type Message = [worker: number, pool: string, ...claim: ClaimRow]

const channelStatement: Statement = {
  name: 'sluice_channel',
  text: 'update sluice.worker set channel = $2, takes = $3 where id = $1 and not stopping returning hashtext($2)',
}
/** As in migrations/0020. By its number: whoever may look at what others ask would otherwise read the name of the channel. */
const offerText = (number: number): string => `select pg_try_advisory_lock(1936487785, ${number})`
const withdrawText = 'select pg_advisory_unlock_all()'
/** What was handed over when the heartbeat looked has arrived by then. */
const onTheWayMs = 250
const lastLookMs = 1_000

export class HandOver {
  readonly #options: HandOverOptions
  #listening: OwnChannel | undefined
  /** The same, once the database knows it, and the number of its lock. */
  #channel: OwnChannel | undefined
  #number = 0
  #offered = false
  /** Until when something may have been handed over, by the monotonic clock. */
  #openUntilMs = Number.NEGATIVE_INFINITY
  #voidUntil = 0
  /** Since when no heartbeat has looked for what was handed over. */
  #unconfirmedMs: number | undefined
  /** What came since. */
  readonly #received = new Set<number>()
  #missing: ReadonlySet<number> = new Set()

  /** What this process knows and has a pool for. */
  readonly #takes: string[]

  constructor(options: HandOverOptions) {
    this.#options = options
    this.#takes = [...options.kinds].filter(([, { pool }]) => pool in options.pools).map(([name]) => name)
  }

  /** There is a connection that hears. The one before is gone, and with it all that was offered there. */
  async open(channel: OwnChannel): Promise<void> {
    this.close()
    this.#listening = channel
    await this.#register()
  }

  close(): void {
    this.#listening = undefined
    this.#channel = undefined
    this.#offered = false
    this.#openUntilMs = Math.min(this.#openUntilMs, this.#options.clock.monotonic())
  }

  /** The process has a new row, in which nobody finds its channel yet. */
  async rejoin(): Promise<void> {
    const channel = this.#listening
    if (!channel) return
    void channel.ask(withdrawText)
    await this.open(channel)
  }

  /** Tells the database where this process can be reached. If it does not get there, the next heartbeat tries again. */
  async #register(): Promise<void> {
    const { database, worker } = this.#options
    const [channel, id] = [this.#listening, worker()]
    if (!channel || this.#takes.length === 0) return
    const answer = await database.send<[number]>(database.hot, channelStatement, [id, channel.name, this.#takes]).catch(() => [])
    if (!answer[0] || this.#listening !== channel || id !== worker()) return
    this.#number = answer[0][0]
    this.#channel = channel
    this.offer()
  }

  /** Without waiting for anybody: while it waits, the connection hears nothing. Whoever is just looking at the lock keeps it from us; then the next heartbeat is another chance. */
  offer(): void {
    const { gate, clock, isIdle } = this.#options
    const channel = this.#channel
    if (!channel || this.#offered || !gate.isOpen || !isIdle()) return
    this.#offered = true
    this.#openUntilMs = Number.POSITIVE_INFINITY
    this.#unconfirmedMs ??= clock.monotonic()
    gate.mayHold()
    void channel.ask(offerText(this.#number)).then((got) => {
      if (got !== true && this.#channel === channel) this.#isWithdrawn()
    })
  }

  /** Both texts travel on one connection, in their order. Until it is answered something may still be handed over, and is taken. */
  withdraw(): void {
    const channel = this.#channel
    if (!this.#offered || !channel) return
    this.#offered = false
    void channel.ask(withdrawText).then(() => {
      if (!this.#offered) this.#isWithdrawn()
    })
  }

  #isWithdrawn(): void {
    this.#offered = false
    this.#openUntilMs = this.#options.clock.monotonic()
  }

  /** Hands back what the table says this process holds and it does not know. Nothing that was handed over until then has a fence above that of the audit. */
  async audit(): Promise<void> {
    const { database, gate, held, worker, log } = this.#options
    this.withdraw()
    const { jobs, fence, leftOver } = await auditWorker(database, worker(), held.ids()).catch((error: unknown) => {
      log.warn('audit failed', { reason: String(error) })
      throw error
    })
    this.#voidUntil = fence
    if (jobs > 0) log.warn('lost claims handed back', { jobs })
    if (leftOver) gate.lookAgain() // somebody has them in an open transaction
  }

  /** Nobody listens any more, and somebody may just have handed a job over. If the server keeps us waiting, whoever leads gives it to others. */
  async leave(): Promise<void> {
    const { gate, clock } = this.#options
    this.close()
    if (this.offeredMs() === null) return
    gate.auditDue = true
    const over = new AbortController()
    await Promise.race([gate.open(), pause(clock, lastLookMs, over.signal)])
    over.abort()
  }

  /** At once if it may be: a cancel may come right behind it. */
  receive(text: string): void {
    const message = read(text)
    if (!message) return
    const [to, pool, ...row] = message
    const claim = toClaim(row)
    this.#received.add(claim.id)
    const { gate, probe } = this.#options
    if (!gate.auditing && probe === noProbe) this.#accept(to, pool, claim)
    else
      void gate
        .audited()
        .then(() => probe('claimed'))
        .then(() => this.#accept(to, pool, claim))
  }

  #accept(to: number, pool: string, claim: Claim): void {
    const { gate, worker, trusted } = this.#options
    if (to !== worker()) return
    if (trusted() && claim.fence > this.#voidUntil) this.#take(pool, claim)
    else gate.auditDue = true // it belongs to somebody else by now, or else it goes back
  }

  /** Two may come at once: whoever has no slot for the second gives it back, for others may have one. */
  #take(name: string, claim: Claim): void {
    const { poolOf, admit, giveBack } = this.#options
    const mine = admit([claim])
    const pool = poolOf(name)
    if (!pool || pool.running + pool.waiting >= pool.core) return giveBack(mine)
    pool.accept(mine)
    pool.fill()
  }

  /** For how long something may have been handed over that no heartbeat has looked for. */
  offeredMs(): number | null {
    return this.#unconfirmedMs === undefined ? null : this.#options.clock.monotonic() - this.#unconfirmedMs
  }

  /** After each heartbeat. A job that was handed over and is neither held nor ever came, in two looks, is lost. */
  confirm(jobs: readonly number[], sentMs: number): void {
    const { gate, clock, held, beatNow, lookAgain } = this.#options
    const missing = jobs.filter((job) => !held.has(job) && !this.#received.has(job))
    const lost = missing.some((job) => this.#missing.has(job))
    this.#missing = new Set(missing)
    if (missing.length === 0) {
      this.#received.clear()
      this.#unconfirmedMs = this.#openUntilMs > sentMs ? sentMs : undefined
    } else if (!lost) clock.after(onTheWayMs, beatNow)
    else {
      gate.auditDue = true
      this.#listening?.renew()
      this.close()
      lookAgain()
    }
    if (this.#listening && !this.#channel) void this.#register()
    else this.offer()
  }
}

/** Anybody who knows the channel can say anything there. */
function read(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return Array.isArray(message) && typeof message[1] === 'string' && Number.isSafeInteger(message[2])
      ? (message as unknown as Message)
      : undefined
  } catch {
    return undefined
  }
}
