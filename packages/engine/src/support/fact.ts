/**
 * Facts: what an engine tells its observer about, as a closed union.
 *
 * An observer counts, draws or forwards; it is called in the middle of the work, so it must be quick and must not wait. Facts are told by the
 * process that saw them happen, each once, and are not stored: whoever needs to know for certain subscribes to an event instead.
 */

/** How an attempt ended. `stale` means that somebody else owned the job by then, so nothing was changed. */
export type EndedOutcome = 'done' | 'retry' | 'snooze' | 'failed' | 'canceled' | 'handed back' | 'stale'

export type Fact =
  /** Accepted by the database. In a transaction of the caller's it is told when the statement ran, whatever becomes of the transaction. */
  | { readonly type: 'job.enqueued'; readonly job: number; readonly kind: string; readonly created: boolean }
  /** `waitedMs` counts from the moment it was ready. */
  | {
      readonly type: 'job.started'
      readonly job: number
      readonly kind: string
      readonly attempt: number
      readonly waitedMs: number
    }
  /** Settled. `ranMs` is the time its handler took; nothing if it never started. */
  | {
      readonly type: 'job.ended'
      readonly job: number
      readonly kind: string
      readonly attempt: number
      readonly outcome: EndedOutcome
      readonly ranMs: number | undefined
      readonly run: number | undefined
      /** The id of its trace, for whoever looks for its spans. */
      readonly trace: string | undefined
      readonly error: { readonly code?: string; readonly message: string } | undefined
    }
  /** The processes of these jobs are gone. `failed` of them had too many deaths behind them, the others run again. */
  | {
      readonly type: 'job.rescued'
      readonly rescued: number
      readonly failed: number
      /** The first hundred. */
      readonly jobs: readonly number[]
      readonly workers: readonly string[]
    }
  /** Nothing of the lane starts before then: a server said so in its answer to a job, or somebody held it by hand. */
  | {
      readonly type: 'lane.held'
      readonly lane: string
      readonly until: Date
      readonly reason: 'server' | 'by hand'
      readonly job: number | undefined
    }
  /** Told by the process that leads. */
  | {
      readonly type: 'run.ended'
      readonly run: number
      readonly kind: string
      readonly owner: string | undefined
      readonly state: 'completed' | 'failed' | 'canceled'
      readonly succeeded: number
      readonly failed: number
      readonly canceled: number
      readonly tookMs: number
    }
  /** Told when it wakes. */
  | { readonly type: 'promoter.slept'; readonly ms: number }
  | { readonly type: 'promoter.promoted'; readonly jobs: number }
  /** This process leads from now on, or no longer. */
  | { readonly type: 'leader.changed'; readonly leads: boolean; readonly term: number }
  /** Somebody else hands out the jobs of this process from now on; `reason` says why it is not Redis. */
  | { readonly type: 'dispatch.changed'; readonly by: 'postgres' | 'redis'; readonly reason: string | undefined }
  /** Ids that dead processes had taken are handed out again. */
  | { readonly type: 'dispatch.taken-over'; readonly pool: string; readonly jobs: number }
  /** `missed` fires came too late or were kept back. */
  | { readonly type: 'schedule.fired'; readonly schedule: string; readonly jobs: number; readonly missed: number }
  | { readonly type: 'event.published'; readonly event: string; readonly id: number }

/** Called with each fact, synchronously. What it throws is caught; the engine goes on. */
export type Observer = (fact: Fact) => void
