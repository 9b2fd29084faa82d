/**
 * The dispatch port: how ready jobs come to the pools that have room for them.
 *
 * PostgreSQL is the truth for jobs, fences, lanes and permits whichever dispatcher runs; a dispatcher only decides where a process waits and
 * which jobs it tries to claim. Two of them: `postgres` waits for notifications and claims what comes first in the table, `redis` waits in a
 * blocking read and claims by id what it was handed. Whoever works above does not know which one it has.
 *
 * An offer is a hint that follows a commit. Losing one delays, it never loses: what PostgreSQL says is ready and nobody was told of is found
 * by the next heartbeat (postgres) or the next look of the dispatch leader (redis).
 */
import type { Claim } from './claim.ts'
import type { Pace } from './pace.ts'

/** A job that is ready or falls due, as far as whoever stored it knows. */
export interface Offer {
  readonly id: number
  /** Nothing: whoever offers cannot tell, and the dispatcher asks the table. */
  readonly facts: OfferFacts | undefined
}

/** For a job of the open lane, ready now. All others are asked for. */
export interface OfferFacts {
  readonly kind: string
  readonly pool: string
  readonly priority: number
}

/** A claim that is over, because it was settled or because somebody else owns the job by now. */
export interface Over {
  readonly claim: Claim
  readonly verdict: { readonly outcome: string; readonly started?: boolean }
  /** What the server that was called said about the lane's budget. */
  readonly said?:
    | { readonly remaining?: number | undefined; readonly resetAt?: Date | undefined; readonly refund?: number | undefined }
    | undefined
}

/** A pool as its supply sees it. */
export interface Demand {
  readonly name: string
  readonly core: number
  readonly max: number
  readonly pace: Pace
  /** Nothing may start now. */
  readonly held: boolean
  readonly running: number
  /** Claimed and not started. */
  readonly waiting: number
  /** Of lanes, claimed and not ended; and those of them that run. */
  readonly lanedInHand: number
  readonly lanedRunning: number
  /** Ended claims that wait to be settled. */
  unsettled(): number
  accept(claims: readonly Claim[]): void
  /** Starts what waits, as far as there are slots. */
  fill(): void
}

/** What keeps one pool filled. */
export interface Supply {
  /** There may be work. */
  wake(where: 'open' | 'lanes' | 'both'): void
  /** A job ended or the settler caught up: there may be room. */
  goOn(): void
  /** The pool takes nothing for a while: whatever was planned is called off. */
  hold(): void
}

/** The way through a process's claim gate; see worker/claimer.ts. */
export interface Door {
  worker(): number
  unknownKinds(): string[]
  /** Whether the process may claim now. */
  open(): boolean
  /** Claims whose answer got lost are handed back, if there may be some. Every claim does so before; who waits for ids may not claim for long. */
  audit(): Promise<unknown>
  /** Nothing when the process must not claim now, or the claim failed; then the pool is told to look again. */
  pass<F extends { claims: Claim[] }>(pool: string, claim: () => Promise<F>): Promise<F | undefined>
}

/** Redis, as this process sees it; nothing when there is none to see. */
export interface DispatchStatus {
  readonly by: 'postgres' | 'redis'
  /** Why it is not the one that was asked for. */
  readonly instead: string | undefined
  /** Since when it is so; nothing where it cannot change. */
  readonly since: Date | undefined
  readonly leads: boolean
}

/** What Redis holds of a pool. */
export interface PoolInDispatch {
  readonly pool: string
  /** Entries in its streams, handed out or not … */
  readonly length: number
  /** … handed to a process and not acknowledged … */
  readonly pending: number
  /** … and not handed out yet. */
  readonly lag: number
  readonly delayed: number
  /** Ids that wait in their lanes. */
  readonly parked: number
  /** Ids that were taken from dead processes and handed out again, since Redis was last empty. */
  readonly takenOver: number
}

export interface Found {
  readonly ready: readonly string[]
  readonly turns: readonly string[]
}

export interface Dispatcher {
  readonly status: DispatchStatus
  /** Whether offers reach the workers by themselves, so that nobody needs to be notified. */
  readonly announces: boolean
  /** Before the first claim. */
  start(door: Door, pools: readonly string[]): Promise<void>
  stop(): Promise<void>
  supply(demand: Demand, door: Door): Supply
  offer(jobs: readonly Offer[]): void
  /** After the settle has committed. */
  acknowledge(over: readonly Over[]): void
  /** A wake-up of PostgreSQL, 'ready:POOL' or 'turn:POOL': something became ready there, or a lane opened. */
  hear(topic: string): void
  /** What the heartbeat found that may be taken, by pool. */
  onBeat(found: Found): void
  /** What is held outside of PostgreSQL; nothing where nothing is. */
  measure(pools: readonly string[]): Promise<PoolInDispatch[]>
}
