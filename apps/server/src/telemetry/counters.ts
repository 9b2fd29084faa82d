/**
 * What is counted as it happens: counters and histograms, fed by the facts of the engine in this process.
 *
 * They count what this process saw since it started; Prometheus adds up processes and knows restarts. Nothing here is derived from rows,
 * which are pruned. The series of a kind are looked up once: with them a job costs two additions.
 */
import type { EndedOutcome, Fact } from '@sluice/engine'
import { Counter, Histogram, type Registry } from 'prom-client'
import { BoundedLabel } from './bounded-label.ts'

const kindsMax = 200
const runSecondsBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]
const waitSecondsBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600]
const sleepSecondsBuckets = [0.01, 0.1, 1, 5, 10, 30, 60, 300, 600, 3600]

interface KindSeries {
  readonly enqueued: Counter.Internal
  readonly deduplicated: Counter.Internal
  readonly wait: Histogram.Internal<'kind'>
  readonly run: Histogram.Internal<'kind'>
  readonly ended: Map<EndedOutcome, Counter.Internal>
  readonly label: string
}

export class Counters {
  readonly kinds = new BoundedLabel(kindsMax)
  readonly #metrics: ReturnType<typeof define>
  readonly #series = new Map<string, KindSeries>()

  constructor(registry: Registry) {
    this.#metrics = define(registry)
  }

  readonly observe = (fact: Fact): void => {
    const metrics = this.#metrics
    switch (fact.type) {
      case 'job.enqueued':
        return this.#of(fact.kind)[fact.created ? 'enqueued' : 'deduplicated'].inc()
      case 'job.started':
        return this.#of(fact.kind).wait.observe(fact.waitedMs / 1000)
      case 'job.ended':
        return this.#ended(fact)
      case 'job.rescued':
        metrics.rescued.inc(fact.rescued)
        return metrics.poisoned.inc(fact.failed)
      case 'lane.held':
        return metrics.held.inc({ reason: fact.reason.replace(' ', '_') })
      case 'run.ended':
        return metrics.runs.inc({ kind: this.kinds.of(fact.kind), state: fact.state })
      case 'promoter.slept':
        return metrics.slept.observe(fact.ms / 1000)
      case 'promoter.promoted':
        return metrics.promoted.inc(fact.jobs)
      case 'leader.changed':
        return metrics.leader.inc()
      case 'schedule.fired':
        metrics.fired.inc(fact.jobs)
        return metrics.missed.inc(fact.missed)
      case 'dispatch.changed':
        return metrics.dispatch.inc({ by: fact.by })
      case 'dispatch.taken-over':
        return metrics.takenOver.inc(fact.jobs)
      case 'event.published':
        return metrics.published.inc()
    }
  }

  #ended({ kind, outcome, ranMs }: Fact & { type: 'job.ended' }): void {
    const series = this.#of(kind)
    let counter = series.ended.get(outcome)
    if (!counter) {
      counter = this.#metrics.ended.labels({ kind: series.label, outcome: outcome.replace(' ', '_') })
      series.ended.set(outcome, counter)
    }
    counter.inc()
    if (ranMs !== undefined) series.run.observe(ranMs / 1000)
  }

  #of(kind: string): KindSeries {
    const label = this.kinds.of(kind)
    const known = this.#series.get(label)
    if (known) return known
    const { enqueued, deduplicated, wait, run } = this.#metrics
    const series: KindSeries = {
      label,
      enqueued: enqueued.labels({ kind: label }),
      deduplicated: deduplicated.labels({ kind: label }),
      wait: wait.labels({ kind: label }),
      run: run.labels({ kind: label }),
      ended: new Map(),
    }
    this.#series.set(label, series)
    return series
  }
}

function define(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers })
  return {
    enqueued: counter('sluice_jobs_enqueued_total', 'Jobs this process put in.', 'kind'),
    deduplicated: counter('sluice_jobs_deduplicated_total', 'Requests for which a job was already there.', 'kind'),
    ended: counter('sluice_jobs_ended_total', 'Attempts that ended in this process, by how.', 'kind', 'outcome'),
    rescued: counter('sluice_jobs_rescued_total', 'Jobs of dead processes that were put back to work.'),
    poisoned: counter('sluice_jobs_poisoned_total', 'Jobs that were failed because too many processes died of them.'),
    promoted: counter('sluice_jobs_promoted_total', 'Delayed jobs and retries that became ready at their time.'),
    held: counter('sluice_lanes_held_total', 'Times a lane was held, by a server or by hand.', 'reason'),
    runs: counter('sluice_runs_ended_total', 'Runs that ended, by how.', 'kind', 'state'),
    leader: counter('sluice_leader_changes_total', 'Times this process took over or gave up leadership.'),
    fired: counter('sluice_schedule_jobs_total', 'Jobs that schedules enqueued.'),
    missed: counter('sluice_schedule_fires_missed_total', 'Fires without a job: too late, or kept back by overlap.'),
    dispatch: counter('sluice_dispatch_changes_total', 'Times somebody else began to hand out the jobs of this process.', 'by'),
    takenOver: counter(
      'sluice_dispatch_taken_over_total',
      'Ids that dead processes had taken from Redis and that were handed out again.',
    ),
    published: counter('sluice_events_published_total', 'Events this process published.'),
    wait: new Histogram({
      name: 'sluice_job_wait_seconds',
      help: 'From ready to started.',
      labelNames: ['kind'] as const,
      buckets: waitSecondsBuckets,
      registers,
    }),
    run: new Histogram({
      name: 'sluice_job_run_seconds',
      help: 'How long handlers ran, however they ended.',
      labelNames: ['kind'] as const,
      buckets: runSecondsBuckets,
      registers,
    }),
    slept: new Histogram({
      name: 'sluice_promoter_sleep_seconds',
      help: 'How long the promoter slept between looks.',
      buckets: sleepSecondsBuckets,
      registers,
    }),
  }
}
