/**
 * Settler: ends claims, many at a time.
 *
 * Verdicts without a consequence wait here until the current group is on its way, so one statement ends hundreds of them. A verdict with
 * jobs to come or events to publish joins a grouped transaction; one with a `write` gets a transaction of its own: lock the job under its
 * fence, let the handler write, settle, then enqueue what comes next and publish what happened. Each of these sorts has a line of its own, so that none waits
 * behind another. A claim whose fence is old is dropped, because somebody else owns that job now.
 *
 * What passes by itself (deadlock, server away or without room) is tried again from memory until the lease is over; what waits for a lane in
 * somebody's hand is set aside, so that it holds up no others (`set-aside.ts`), and what waits for something else there, as its own row or a child's key, goes on by
 * itself in the line of the late. When a group fails for another reason it is settled one by one, so that a bad job cannot take its neighbours with it, and a job whose own write fails is retried
 * like any other failed attempt.
 */
import type { Claim } from '../dispatch/claim.ts'
import { addDays, isMissingDay } from '../job/missing-day.ts'
import { isStuck, isTransient } from '../postgres/transient.ts'
import { pause } from '../support/clock.ts'
import type { Log } from '../support/log.ts'
import { type Ended, explainWait, hasConsequences, hasWrite, isHeldUp, isIdleWrite, WaitedInVain, withoutVoid } from './ended.ts'
import type { Verdict } from './judge.ts'
import { isOwnDoing } from './lend-to-write.ts'
import { Line } from './line.ts'
import { SetAside } from './set-aside.ts'
import { findBusyLanes, settle } from './settle.ts'
import { settleTogether, type TogetherOptions } from './settle-together.ts'
import { tellEnds } from './tell-ends.ts'

export interface SettlerOptions extends TogetherOptions {
  readonly log: Log
  /** False once this process may have been declared dead. */
  readonly trusted: () => boolean
  /** What becomes of a job whose own write or children could not be stored. */
  readonly onWriteFailed: (claim: Claim, error: unknown) => Verdict
  /**
   * These claims are over here: settled or somebody else's by now, or else (`ended` is false) given up because the lease seemed over. The
   * table may still say that this process holds them.
   */
  readonly onOver: (group: readonly Ended[], ended: boolean) => void
}

/** A write has a transaction of its own and takes as long as so many plain ends. Handlers that only call and write would otherwise run a minute ahead of what is stored. */
const writeWeight = 60
const retryMsMax = 1_000
/**
 * Groups of many processes that end jobs of one run wait for each other's commits, one after the other. To break a group up for that would make each of its ends
 * wait as long, so it has more patience than single ends have.
 */
const plainWaitMs = 2_000
/** Whoever waited in vain has mostly waited for half a second; one that is refused at once does not go round and round. */
const lateAgainMs = 100
/** A handler's own write is not tried for ever: what it runs into may be its own doing. */
const writeTriesMax = 12
/** A day that is missing again and again once it was made is not ours to make. */
const dayTriesMax = 3

export class Settler {
  readonly #options: SettlerOptions
  readonly #aside: SetAside
  readonly #plain = new Line({ groupSizeMax: 500, groupsMax: 2 })
  readonly #caused = new Line({ groupSizeMax: 500, groupsMax: 2 })
  readonly #writes = new Line({ groupSizeMax: 1, groupsMax: 8, weight: writeWeight })
  readonly #late = new Line({ groupSizeMax: 1, groupsMax: 2 })
  readonly #lines = [this.#plain, this.#caused, this.#writes, this.#late]
  #flushSoon = false
  #idle: (() => void)[] = []

  constructor(options: SettlerOptions) {
    this.#options = options
    const { clock, database } = options
    this.#aside = new SetAside({
      clock,
      findBusy: (lanes) => findBusyLanes(database, lanes),
      giveBack: (one) => this.add(one),
      isOver: () => this.#isOver(),
      giveUp: (ends) => {
        this.#over(ends, undefined)
        this.#next()
      },
    })
  }

  /** How much is to be settled, in plain ends. Whoever claims leaves off at a few thousand. */
  get pending(): number {
    return this.#lines.reduce((sum, line) => sum + line.pending, this.#aside.size)
  }

  add(ended: Ended): void {
    if (!this.#aside.idle && this.#aside.takes(ended)) return
    const line = hasWrite(ended) ? this.#writes : hasConsequences(ended) ? this.#caused : this.#plain
    line.ends.push(ended)
    if (this.#flushSoon) return
    this.#flushSoon = true
    setImmediate(() => {
      this.#flushSoon = false
      this.#flush()
    })
  }

  /** Resolves when everything that was added is settled or given up. */
  async drained(): Promise<void> {
    while (this.pending > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #flush(): void {
    for (const line of this.#lines)
      while (line.mayGoOn) {
        const group = withoutVoid(this.#withoutAside(line.take()))
        if (group.length === 0) continue
        line.groups++
        void this.#settleGroup(group, line !== this.#plain).finally(() => {
          line.groups--
          this.#next()
        })
      }
  }

  #next(): void {
    this.#flush()
    if (this.pending > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #withoutAside(group: Ended[]): Ended[] {
    return this.#aside.idle ? group : group.filter((one) => !this.#aside.takes(one))
  }

  /** `more`: not only ends are to be stored. */
  async #settleGroup(group: Ended[], more: boolean): Promise<void> {
    try {
      this.#over(group, await this.#persist(group, more))
    } catch (error) {
      if (isHeldUp(error, group)) await this.#leaveBehind(group)
      else if (error instanceof WaitedInVain) await this.#putOff(group, error)
      else if (group.length === 1) await this.#settleFailedWrite(group[0] as Ended, error)
      else for (const one of group) await this.#settleGroup([one], hasMore(one))
    }
  }

  /** Nothing is worth trying again: this process may have been declared dead, or it has left. */
  #isOver(): boolean {
    return !this.#options.trusted() || this.#options.database.left
  }

  /** Those of lanes in somebody's hand are set aside, and the others go on. */
  async #leaveBehind(group: readonly Ended[]): Promise<void> {
    const lanes = new Set(group.flatMap(({ claim }) => claim.lane ?? []))
    for (const lane of await findBusyLanes(this.#options.database, [...lanes])) this.#aside.put(lane)
    const rest = group.filter((one) => !this.#aside.takes(one))
    if (rest.length > 0) await this.#settleGroup(rest, rest.some(hasMore))
  }

  /** Each by itself from now on: one of them waits for somebody, who may keep them waiting for long. */
  async #putOff(group: readonly Ended[], { cause }: WaitedInVain): Promise<void> {
    if (this.#isOver()) return this.#over(group, undefined)
    // Told by the first, not at every try.
    if (this.#late.pending === 0) this.#options.log.warn('settle is put off', { jobs: group.length, reason: String(cause) })
    else await pause(this.#options.clock, lateAgainMs)
    this.#late.ends.push(...group)
  }

  /** `stale` are the claims that were somebody else's by then; nothing at all means that the group was given up. */
  #over(group: readonly Ended[], stale: readonly number[] | undefined): void {
    this.#options.onOver(group, stale !== undefined)
    if (stale && this.#options.witness) tellEnds(this.#options.witness, group, stale)
  }

  async #plainly(group: readonly Ended[]): Promise<number[]> {
    const { database, worker, probe } = this.#options
    const settling = settle(database, database.hot, worker(), group, true, plainWaitMs)
    void probe('settle sent')
    const { stale } = await settling.catch((error: unknown) => {
      throw explainWait(error, group)
    })
    await probe('settled')
    return stale
  }

  /**
   * Tries again what passes by itself, until the lease is over (nothing): then whoever rescues these jobs runs them again. Only what got as far as
   * a transaction counts as a try: a server that is away, or has no room, uses none up.
   */
  async #persist(group: readonly Ended[], more: boolean): Promise<number[] | undefined> {
    const { clock, log, database } = this.#options
    let [tries, days, dayMissing] = [0, 0, false]
    const onBegun = (): void => void tries++
    for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, retryMsMax)) {
      try {
        if (dayMissing) await addDays(database)
        dayMissing = false
        return await (more ? settleTogether(group, this.#options, onBegun) : this.#plainly(group))
      } catch (error) {
        if (isMissingDay(error) && days++ < dayTriesMax) dayMissing = true
        else if (!isTransient(error)) throw error
        if (this.#isOver()) return undefined
        if (isStuck(error) && !isOwnDoing(error)) tries = 0
        if (tries >= writeTriesMax || isHeldUp(error, group) || isIdleWrite(error, group)) throw error
        log.warn('settle is tried again', { reason: String(error) })
        await pause(clock, waitMs)
      }
    }
  }

  async #settleFailedWrite(one: Ended, error: unknown): Promise<void> {
    const { log, onWriteFailed } = this.#options
    const settled = { ...one, verdict: onWriteFailed(one.claim, error) }
    let stale: number[] | undefined
    try {
      stale = await this.#persist([settled], false)
    } catch (trouble) {
      if (isHeldUp(trouble, [settled])) return this.#leaveBehind([settled])
      if (trouble instanceof WaitedInVain) return this.#putOff([settled], trouble)
      log.error('claim could not be settled', { job: one.claim.id, reason: String(trouble) })
    }
    this.#over([settled], stale)
  }
}

/** More than its end is to be stored. */
function hasMore(ended: Ended): boolean {
  return hasWrite(ended) || hasConsequences(ended)
}
