/**
 * Pool: named concurrency in a worker process, and the loop that keeps it filled.
 *
 * A pool runs up to `core` jobs, and up to `max` while a backlog stands. It claims when it is told that there may be work (start, wake-up,
 * reconnect, heartbeat) and again at once after a full batch. The flag "maybe more" is cleared only by a claim that was sent after the flag
 * was set and came back short; whoever sets it meanwhile causes another look.
 *
 * Short jobs are claimed ahead of their slots, as many as the pool got through lately in `aheadMs`, so that a statement serves hundreds of
 * them; slow jobs are never claimed ahead, and claims that got no slot in time go back, for another process may have one. Under load each
 * claim starts its scan a little before the last rank it got (what runs and what is dead lies below), with a look from the very start now
 * and then, so a more urgent job waits a second at most.
 *
 * The open lane and the other lanes are two sources with a flag each. When both may have work they take turns and share the slots. Of lanes with a
 * budget or a cap nothing is claimed ahead, because permits and places are taken from the claim on; the database sees to it.
 */
import type { Clock, Timer } from '../support/clock.ts'
import type { Claim, LanedClaims } from './claim.ts'
import { Pace } from './pace.ts'
import { ScanStart } from './scan-start.ts'
import { WaitingClaims } from './waiting-claims.ts'

export interface PoolOptions {
  readonly name: string
  readonly core: number
  readonly max: number
  readonly clock: Clock
  /** Claims for this pool; resolves to nothing when the process must not claim now. */
  readonly claim: (slots: number, since: number) => Promise<Claim[]>
  /** The same for its lanes. */
  readonly claimLaned: (slots: number, ahead: number) => Promise<LanedClaims>
  /** Runs one claim to its verdict and hands it to the settler. Never rejects; nothing means that it has ended already. */
  readonly run: (claim: Claim) => Promise<void> | undefined
  /** Takes claims that got no slot in time. */
  readonly giveBack: (claims: readonly Claim[]) => void
  /** How many ended claims wait to be settled; the pool does not run away from the settler. */
  readonly unsettled: () => number
}

const aheadMs = 40
/** Jobs claimed ahead; with fewer a second claim would only meet the locks of the first. */
const besideMin = 500
const unsettledMax = 4_000
const waitMsMax = 5 * aheadMs
const lookAgainMsMin = 4
const lookAgainMsMax = 5_000

export class Pool {
  readonly name: string
  readonly core: number
  readonly max: number
  readonly #options: PoolOptions
  readonly #pace: Pace
  readonly #scanStart: ScanStart
  #running = 0
  readonly #waiting = new WaitingClaims()
  #lanedInHand = 0
  #maybeMore = false
  #maybeTurns = false
  #lanesNext = false
  #lookAgain: Timer | undefined
  #lookAgainMs = lookAgainMsMin
  #backlog = false
  #claiming = false
  #asked = 0
  #held = false
  #started = 0
  #patience: Timer | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.#pace = new Pace(options.clock)
    this.#scanStart = new ScanStart(options.clock)
    this.name = options.name
    this.core = options.core
    this.max = options.max
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** There may be work in the open lane, or in the others: look. */
  wake(where: 'open' | 'lanes' | 'both' = 'both'): void {
    if (where !== 'lanes') this.#maybeMore = true
    if (where !== 'open') {
      this.#maybeTurns = true
      this.#lookAgain?.cancel()
      this.#lookAgain = undefined
      this.#lookAgainMs = lookAgainMsMin
    }
    void this.#pump()
  }

  /** A job ended or the settler caught up: look, if there was a reason to and no room. */
  goOn(): void {
    if (this.#claiming) return
    if ((this.#maybeMore && this.#room() > 0) || (this.#maybeTurns && this.#lanedRoom() > 0)) void this.#pump()
  }

  /** No more claims and no more starts; gives what was claimed and not started. */
  hold(): Claim[] {
    this.#held = true
    this.#patience?.cancel()
    this.#patience = undefined
    this.#lookAgain?.cancel()
    return this.#takeWaiting()
  }

  release(): void {
    this.#held = false
    this.wake()
  }

  #takeWaiting(): Claim[] {
    this.#lanedInHand -= this.#waiting.laned
    return this.#waiting.takeAll()
  }

  #limit(): number {
    return this.#backlog ? this.max : this.core
  }

  #room(): number {
    if (this.#held || this.#options.unsettled() > unsettledMax) return 0
    const ahead = this.#pace.in(aheadMs)
    const room = this.#limit() + ahead - this.#running - this.waiting - this.#asked
    // Half of what may be in hand is claimed while the other half runs; less at a time would waste what claiming ahead gains.
    return room >= Math.max(1, ahead / 2) ? Math.min(room, Math.max(this.#limit(), Math.ceil(ahead / 2))) : 0
  }

  #lanedRoom(): number {
    if (this.#held || this.#lookAgain || this.#options.unsettled() > unsettledMax) return 0
    // Beside a busy open lane nothing is claimed ahead: a lane that nobody has seen yet should not wait for it.
    const ahead = this.#maybeMore ? 0 : this.#pace.in(aheadMs)
    const room = this.#lanedShare() + ahead - this.#lanedInHand
    return room >= Math.max(1, ahead / 2) ? room : 0
  }

  #lanedShare(): number {
    return this.#maybeMore ? Math.ceil(this.#limit() / 2) : this.#limit() - (this.#running - this.#lanedRunning())
  }

  #lanedRunning(): number {
    return this.#lanedInHand - this.#waiting.laned
  }

  async #pump(): Promise<void> {
    if (this.#claiming) return
    this.#claiming = true
    try {
      for (let claiming = this.#claimNext(); claiming; ) {
        const beside = this.#claimBeside()
        this.#accept(await claiming)
        // Sent before the handlers start: the server works while they do.
        claiming = beside ?? this.#claimNext()
        this.#fill()
      }
    } finally {
      this.#claiming = false
    }
    // What ended meanwhile may have made room.
    this.goOn()
  }

  /** Under a backlog of short jobs a second claim is under way while the answer of the first is read: waiting for it cost a sixth of a drain. */
  #claimBeside(): Promise<Claim[]> | undefined {
    if (!this.#backlog || this.#maybeTurns || this.#pace.in(aheadMs) < besideMin) return undefined
    const room = this.#room()
    return room > 0 ? this.#claim(room) : undefined
  }

  #claimNext(): Promise<Claim[]> | undefined {
    const room = this.#maybeMore ? this.#room() : 0
    const lanedRoom = this.#maybeTurns ? this.#lanedRoom() : 0
    if (lanedRoom > 0 && (this.#lanesNext || room <= 0)) {
      this.#lanesNext = false
      return this.#claimLaned(lanedRoom)
    }
    this.#lanesNext = true
    return room > 0 ? this.#claim(room) : undefined
  }

  async #claimLaned(room: number): Promise<Claim[]> {
    this.#maybeTurns = false
    this.#pace.measure()
    const slots = Math.min(room, Math.max(1, this.#lanedShare()))
    const { claims, again, moved } = await this.#options.claimLaned(slots, room - slots)
    this.#lanedInHand += claims.length
    this.#backlog = claims.length >= slots
    if (claims.length > 0 || moved) this.#lookAgainMs = lookAgainMsMin
    else if (again) this.#lookLater()
    if (again || this.#backlog) this.#maybeTurns = true
    return claims
  }

  /** Somebody else holds the lanes that are left and lets them go in a moment; or their jobs are not for this process, and it asks less and less. */
  #lookLater(): void {
    this.#lookAgain = this.#options.clock.after(this.#lookAgainMs, () => {
      this.#lookAgain = undefined
      this.goOn()
    })
    this.#lookAgainMs = Math.min(this.#lookAgainMs * 2, lookAgainMsMax)
  }

  async #claim(room: number): Promise<Claim[]> {
    this.#maybeMore = false
    this.#pace.measure()
    const look = this.#scanStart.next()
    this.#asked += room
    const claims = await this.#options.claim(room, look.since).finally(() => {
      this.#asked -= room
    })
    this.#backlog = claims.length === room
    // A short look that did not start at the very start says nothing about what lies before: the next one does.
    if (this.#backlog || !look.full) this.#maybeMore = true
    this.#scanStart.remember(look, claims.at(-1), this.#backlog)
    return claims
  }

  #accept(claims: Claim[]): void {
    this.#waiting.add(claims)
    this.#patience ??= this.#watch()
  }

  #fill(): void {
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

  /** All that waits now should have started in a while; if it has not, slow jobs took the slots and everything that waits goes back. */
  #watch(): Timer | undefined {
    const due = this.#started + this.waiting
    if (due === this.#started) return undefined
    return this.#options.clock.after(waitMsMax, () => {
      this.#patience = undefined
      if (this.#started < due && this.waiting > 0) {
        this.#pace.forget()
        this.#maybeMore = true
        this.#options.giveBack(this.#takeWaiting())
        this.goOn()
      } else this.#patience = this.#watch()
    })
  }

  #count(laned: boolean): void {
    this.#running--
    this.#pace.count()
    if (laned) this.#lanedInHand--
  }

  #afterRun = (): void => this.#after(false)
  #afterLanedRun = (): void => this.#after(true)

  #after(laned: boolean): void {
    this.#count(laned)
    this.#fill()
    this.goOn()
  }
}
