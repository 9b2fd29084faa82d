/**
 * What is asked and answered when somebody wants to know why a job does not run.
 */
export interface Explanation {
  readonly reason:
    | 'unknown'
    | 'finished'
    | 'running'
    | 'stopping'
    | 'failed'
    | 'not before'
    | 'waiting for another job'
    | 'waiting for leader'
    | 'in an open transaction'
    | 'paused'
    | 'held'
    | 'budget used up'
    | 'cap reached'
    | 'one job finds out'
    | 'breaker open'
    | 'no worker for this pool'
    | 'no worker knows this kind'
    | 'runs alone next'
    | 'another runs alone'
    | 'pool full'
    | 'next in line'
  /** One sentence for a person. */
  readonly text: string
  readonly until?: Date
}

export interface Surroundings {
  readonly now: Date
  readonly leaderUntil: Date
  readonly followsKey: boolean
  /** It is held by a process whose lease is over. */
  readonly workerLost: boolean
  readonly kindPaused: { reason: string | null } | null
  readonly poolPaused: { reason: string | null } | null
  /** Who keeps a transaction open over the job itself. */
  readonly heldBy: Holder | null
  /** The lane it waits in, and its owner if that has limits. Nothing for the open lane. */
  readonly lane: LaneAround | null
  readonly owner: OwnerAround | null
  /** Live processes that serve the job's pool. `alone` is a job that such a process runs by itself, because two others died of it. */
  readonly workers: readonly { name: string; knowsKind: boolean; max: number; running: number; alone: number | null }[]
  /** Ready jobs of the pool that go first, counted up to `aheadMax`. */
  readonly ahead: number
}

/** A session that keeps a transaction open over a row. */
export interface Holder {
  readonly pid: number
  readonly application: string
  readonly since: string
}

/** Times as text, for they come in JSON. */
export interface LaneAround {
  readonly heldBy: Holder | null
  readonly paused: string | null
  readonly holdUntil: string | null
  readonly brokenUntil: string | null
  readonly inFlight: number
  readonly cap: number | null
  readonly metered: boolean
  /** Null when nothing is known of the window that runs now. */
  readonly permits: number | null
  readonly resetAt: string | null
  readonly cost: number
}

export interface OwnerAround {
  readonly heldBy: Holder | null
  readonly name: string
  readonly paused: string | null
  readonly holdUntil: string | null
  readonly cap: number | null
  readonly inFlight: number
}
