/**
 * What keeps a pool filled from PostgreSQL: when to look, how much to ask for, and where to start.
 *
 * It claims when it is told that there may be work (start, wake-up, reconnect, heartbeat) and again at once after a full batch. The flag "maybe
 * more" is cleared only by a claim that was sent after the flag was set and came back short; whoever sets it meanwhile causes another look.
 *
 * Short jobs are claimed ahead of their slots, as many as the pool got through lately in `aheadMs`, so that a statement serves hundreds of
 * them; slow jobs are never claimed ahead. Under load each claim starts its scan a little before the last rank it got (what runs and what is
 * dead lies below), with a look from the very start now and then, so a more urgent job waits a second at most.
 *
 * The open lane and the other lanes are two sources with a flag each. When both may have work they take turns and share the slots. Of lanes with a
 * budget or a cap nothing is claimed ahead, because permits and places are taken from the claim on; the database sees to it.
 */
import type { Clock, Timer } from '../../support/clock.ts'
import type { Claim } from '../claim.ts'
import type { Demand, Supply } from '../dispatcher.ts'
import type { LanedClaims } from './claim.ts'
import { ScanStart } from './scan-start.ts'

export interface Sources {
  readonly clock: Clock
  /** Claims of the open lane; resolves to nothing when the process must not claim now. */
  readonly claim: (slots: number, since: number) => Promise<Claim[]>
  /** The same for the other lanes. */
  readonly claimLaned: (slots: number, ahead: number) => Promise<LanedClaims>
}

const aheadMs = 40
/** Jobs claimed ahead; with fewer a second claim would only meet the locks of the first. */
const besideMin = 500
const unsettledMax = 4_000
const lookAgainMsMin = 4
const lookAgainMsMax = 5_000

export class PostgresSupply implements Supply {
  readonly #demand: Demand
  readonly #sources: Sources
  readonly #scanStart: ScanStart
  #maybeMore = false
  #maybeTurns = false
  #lanesNext = false
  #lookAgain: Timer | undefined
  #lookAgainMs = lookAgainMsMin
  #backlog = false
  #claiming = false
  #asked = 0

  constructor(demand: Demand, sources: Sources) {
    this.#demand = demand
    this.#sources = sources
    this.#scanStart = new ScanStart(sources.clock)
  }

  wake(where: 'open' | 'lanes' | 'both'): void {
    if (where !== 'lanes') this.#maybeMore = true
    if (where !== 'open') {
      this.#maybeTurns = true
      this.#lookAgain?.cancel()
      this.#lookAgain = undefined
      this.#lookAgainMs = lookAgainMsMin
    }
    void this.#pump()
  }

  goOn(): void {
    if (this.#claiming) return
    if ((this.#maybeMore && this.#room() > 0) || (this.#maybeTurns && this.#lanedRoom() > 0)) void this.#pump()
  }

  hold(): void {
    this.#lookAgain?.cancel()
  }

  /** What comes when the core is taken is a backlog, and only a claim can tell whether something came. */
  #limit(): number {
    const { core, max, running } = this.#demand
    return this.#backlog || running >= core ? max : core
  }

  #room(): number {
    const { held, running, waiting, pace } = this.#demand
    if (held || this.#demand.unsettled() > unsettledMax) return 0
    const ahead = pace.in(aheadMs)
    const room = this.#limit() + ahead - running - waiting - this.#asked
    // Half of what may be in hand is claimed while the other half runs; less at a time would waste what claiming ahead gains.
    return room >= Math.max(1, ahead / 2) ? Math.min(room, Math.max(this.#limit(), Math.ceil(ahead / 2))) : 0
  }

  #lanedRoom(): number {
    if (this.#demand.held || this.#lookAgain || this.#demand.unsettled() > unsettledMax) return 0
    // Beside a busy open lane nothing is claimed ahead: a lane that nobody has seen yet should not wait for it.
    const ahead = this.#maybeMore ? 0 : this.#demand.pace.in(aheadMs)
    const room = this.#lanedShare() + ahead - this.#demand.lanedInHand
    return room >= Math.max(1, ahead / 2) ? room : 0
  }

  #lanedShare(): number {
    const { running, lanedRunning } = this.#demand
    return this.#maybeMore ? Math.ceil(this.#limit() / 2) : this.#limit() - (running - lanedRunning)
  }

  async #pump(): Promise<void> {
    if (this.#claiming) return
    this.#claiming = true
    try {
      for (let claiming = this.#claimNext(); claiming; ) {
        const beside = this.#claimBeside()
        this.#demand.accept(await claiming)
        // Sent before the handlers start: the server works while they do.
        claiming = beside ?? this.#claimNext()
        this.#demand.fill()
      }
    } finally {
      this.#claiming = false
    }
    // What ended meanwhile may have made room.
    this.goOn()
  }

  /** Under a backlog of short jobs a second claim is under way while the answer of the first is read: waiting for it cost a sixth of a drain. */
  #claimBeside(): Promise<Claim[]> | undefined {
    if (!this.#backlog || this.#maybeTurns || this.#demand.pace.in(aheadMs) < besideMin) return undefined
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
    this.#demand.pace.measure()
    const slots = Math.min(room, Math.max(1, this.#lanedShare()))
    const { claims, again, moved } = await this.#sources.claimLaned(slots, room - slots)
    this.#backlog = claims.length >= slots
    if (claims.length > 0 || moved) this.#lookAgainMs = lookAgainMsMin
    else if (again) this.#lookLater()
    if (again || this.#backlog) this.#maybeTurns = true
    return claims
  }

  /** Somebody else holds the lanes that are left and lets them go in a moment; or their jobs are not for this process, and it asks less and less. */
  #lookLater(): void {
    this.#lookAgain = this.#sources.clock.after(this.#lookAgainMs, () => {
      this.#lookAgain = undefined
      this.goOn()
    })
    this.#lookAgainMs = Math.min(this.#lookAgainMs * 2, lookAgainMsMax)
  }

  async #claim(room: number): Promise<Claim[]> {
    this.#maybeMore = false
    this.#demand.pace.measure()
    const look = this.#scanStart.next()
    this.#asked += room
    const claims = await this.#sources.claim(room, look.since).finally(() => {
      this.#asked -= room
    })
    this.#backlog = claims.length === room
    // A short look that did not start at the very start says nothing about what lies before: the next one does.
    if (this.#backlog || !look.full) this.#maybeMore = true
    this.#scanStart.remember(look, claims.at(-1), this.#backlog)
    return claims
  }
}
