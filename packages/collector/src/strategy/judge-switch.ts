/**
 * Whether a switch of strategy stays: the first runs after it against the last ones before it.
 *
 * Errors are judged as soon as they are there. How long runs take is judged when enough of them have ended, by their median: the first one after a switch has
 * no ETags and no totals of its strategy yet, and reads more than those that follow. A run is compared with runs of the same user only.
 */

export interface Ended {
  /** null: it waited for somebody, and tells nothing. */
  readonly tookMs: number | null
  readonly jobs: number
  readonly failed: number
}

export interface WatchedRun extends Ended {
  /** The last runs of its user before the switch; none if it had none. */
  readonly before: readonly Ended[]
}

export interface WatchLimits {
  /** Of all jobs, 0 to 1. More than that, and more than before, is too many. */
  readonly errorRate: number
  /** So many times as long as before is too long. */
  readonly times: number
  /** What a run may always take longer, whatever it took before: a second that becomes three is nobody's trouble. */
  readonly slackMs: number
  /** Errors are not judged by fewer runs. */
  readonly runsLeast: number
  /** How long they take is judged when so many have ended. */
  readonly runsTimed: number
  /** After so many the watch is over. */
  readonly runsMost: number
}

export type Verdict =
  | { readonly type: 'watch on' }
  | { readonly type: 'keep' }
  | { readonly type: 'roll back'; readonly reason: string }

export function judgeSwitch(runs: readonly WatchedRun[], limits: WatchLimits): Verdict {
  const { errorRate, times, runsLeast, runsTimed, runsMost } = limits
  if (runs.length >= runsLeast) {
    const now = rateOf(runs)
    const before = median(runs.flatMap((run) => run.before).map((run) => rateOf([run]))) ?? 0
    if (now > errorRate && now > before)
      return { type: 'roll back', reason: `${percent(now)} of its jobs failed in ${count(runs)}; ${percent(before)} before` }
  }
  const timed = runs.flatMap((run) => {
    const usual = median(run.before.flatMap(({ tookMs }) => tookMs ?? []))
    return usual === undefined || run.tookMs === null
      ? []
      : [{ usual, tookMs: run.tookMs, ratio: ratio(run.tookMs, usual, limits) }]
  })
  if (timed.length >= runsTimed) {
    const ratios = median(timed.map((run) => run.ratio)) as number
    if (ratios > times) {
      const [tookMs, usual] = [timed.map((run) => run.tookMs), timed.map((run) => run.usual)].map(median)
      return {
        type: 'roll back',
        reason: `its runs took ${seconds(tookMs)} instead of ${seconds(usual)} (median of ${count(timed)})`,
      }
    }
  }
  return runs.length >= runsMost ? { type: 'keep' } : { type: 'watch on' }
}

/** Within the slack it took as long as ever. */
function ratio(tookMs: number, usualMs: number, { slackMs }: WatchLimits): number {
  return tookMs - usualMs <= slackMs ? 1 : tookMs / Math.max(1, usualMs)
}

function rateOf(runs: readonly Ended[]): number {
  const jobs = runs.reduce((sum, run) => sum + run.jobs, 0)
  return jobs === 0 ? 0 : runs.reduce((sum, run) => sum + run.failed, 0) / jobs
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)]
  const lower = sorted[Math.ceil(middle) - 1]
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function seconds(ms = 0): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function count(runs: readonly unknown[]): string {
  return runs.length === 1 ? '1 run' : `${runs.length} runs`
}
