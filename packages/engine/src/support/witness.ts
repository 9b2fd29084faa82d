/**
 * Witness: passes facts on to the log and to the observer of a process. Neither can hurt whoever tells.
 *
 * Facts about single jobs are wanted only if somebody observes or looks on live, or the log asks for a line a job; otherwise `jobs` is nothing, and the hot path
 * makes no fact at all: `tell?.({ … })` does not even build its argument. Only of a job that failed for good everybody is told: nobody tries it again.
 */
import type { Fact, Observer } from './fact.ts'
import { lineOf } from './fact-line.ts'
import type { Log } from './log.ts'

export interface Witness {
  /** For what happens now and then. */
  readonly tell: Observer
  /** For what happens to every job. */
  readonly jobs: Observer | undefined
}

/** Somebody who wants facts now and then. */
export interface Onlooker {
  readonly watching: boolean
  readonly tell: Observer
}

const hasFailed = (fact: Fact): boolean => fact.type === 'job.ended' && fact.outcome === 'failed'

export function witness(observe: Observer | undefined, log: Log, onlooker?: Onlooker): Witness {
  let complained = false
  const tell = (fact: Fact): void => {
    if (log.jobs === true || !fact.type.startsWith('job.') || fact.type === 'job.rescued' || hasFailed(fact)) {
      const line = lineOf(fact)
      if (line) log[line.level]?.(line.event, line.fields)
    }
    try {
      if (onlooker?.watching) onlooker.tell(fact)
      observe?.(fact)
    } catch (error) {
      if (!complained) log.error('the observer threw; it is told on, but not complained about again', { reason: String(error) })
      complained = true
    }
  }
  return {
    tell,
    get jobs() {
      return observe || log.jobs === true || onlooker?.watching ? tell : undefined
    },
  }
}
