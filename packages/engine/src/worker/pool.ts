/**
 * Pool: named concurrency in a worker process.
 *
 * A pool runs up to `core` jobs, and up to `max` while a backlog stands; what is claimed for it, and when, is its supply's business
 * (dispatch/). Claims that got no slot in time go back, for another process may have one.
 */
import type { Claim } from '../dispatch/claim.ts'
import type { Demand, Supply } from '../dispatch/dispatcher.ts'
import { Pace } from '../dispatch/pace.ts'
import type { Clock, Timer } from '../support/clock.ts'
import { WaitingClaims } from './waiting-claims.ts'

export interface PoolOptions {
  readonly name: string
  readonly core: number
  readonly max: number
  readonly clock: Clock
  readonly supply: (demand: Demand) => Supply
  /** Runs one claim to its verdict and hands it to the settler. Never rejects; nothing means that it has ended already. */
  readonly run: (claim: Claim) => Promise<void> | undefined
  /** Takes claims that got no slot in time. */
  readonly giveBack: (claims: readonly Claim[]) => void
  /** How many ended claims wait to be settled; the pool does not run away from the settler. */
  readonly unsettled: () => number
}

/** What was claimed ahead of its slot should have got one by then. */
const waitMsMax = 200

export class Pool implements Demand {
  readonly name: string
  readonly core: number
  readonly max: number
  readonly pace: Pace
  readonly #options: PoolOptions
  readonly #supply: Supply
  readonly #waiting = new WaitingClaims()
  #running = 0
  #lanedInHand = 0
  #held = false
  #started = 0
  #patience: Timer | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.pace = new Pace(options.clock)
    this.name = options.name
    this.core = options.core
    this.max = options.max
    this.#supply = options.supply(this)
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get held(): boolean {
    return this.#held
  }

  get lanedInHand(): number {
    return this.#lanedInHand
  }

  get lanedRunning(): number {
    return this.#lanedInHand - this.#waiting.laned
  }

  unsettled(): number {
    return this.#options.unsettled()
  }

  /** There may be work in the open lane, or in the others: look. */
  wake(where: 'open' | 'lanes' | 'both' = 'both'): void {
    this.#supply.wake(where)
  }

  /** A job ended or the settler caught up: look, if there was a reason to and no room. */
  goOn(): void {
    this.#supply.goOn()
  }

  /** No more claims and no more starts; gives what was claimed and not started. */
  hold(): Claim[] {
    this.#held = true
    this.#patience?.cancel()
    this.#patience = undefined
    this.#supply.hold()
    return this.#takeWaiting()
  }

  release(): void {
    this.#held = false
    this.wake()
  }

  accept(claims: readonly Claim[]): void {
    for (const { lane } of claims) if (lane !== undefined) this.#lanedInHand++
    this.#waiting.add(claims)
    this.#patience ??= this.#watch()
  }

  fill(): void {
    // What was claimed while a backlog stood has a slot, also when the backlog is gone by now.
    while (!this.#held && this.#running < this.max && this.waiting > 0) {
      const claim = this.#waiting.next()
      this.#running++
      this.#started++
      const laned = claim.lane !== undefined
      const running = this.#options.run(claim)
      if (running) void running.then(laned ? this.#afterLanedRun : this.#afterRun)
      else this.#count(laned)
    }
  }

  #takeWaiting(): Claim[] {
    this.#lanedInHand -= this.#waiting.laned
    return this.#waiting.takeAll()
  }

  /** All that waits now should have started in a while; if it has not, slow jobs took the slots and everything that waits goes back. */
  #watch(): Timer | undefined {
    const due = this.#started + this.waiting
    if (due === this.#started) return undefined
    return this.#options.clock.after(waitMsMax, () => {
      this.#patience = undefined
      if (this.#started < due && this.waiting > 0) {
        this.pace.forget()
        this.#options.giveBack(this.#takeWaiting())
        this.wake('open')
      } else this.#patience = this.#watch()
    })
  }

  #count(laned: boolean): void {
    this.#running--
    this.pace.count()
    if (laned) this.#lanedInHand--
  }

  #afterRun = (): void => this.#after(false)
  #afterLanedRun = (): void => this.#after(true)

  #after(laned: boolean): void {
    this.#count(laned)
    this.fill()
    this.goOn()
  }
}
