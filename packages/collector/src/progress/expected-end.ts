/**
 * When a collection will end, from what is left to do and what the budgets allow.
 *
 * A lane whose work fits into what is left of its window ends at the run's pace. One whose work does not fit waits for windows: all but the last are bound by the
 * budget, unless the pace is slower still. Lanes work side by side, so the slowest counts. It moves away when jobs bring more jobs, as walks do: it is an estimate of
 * what is known, told as such.
 */
export interface LaneWork {
  /** Permits that its jobs will take. */
  readonly units: number
  /** Permits left in this window; null: not known. */
  readonly remaining: number | null
  /** Of a whole window; null: not known. */
  readonly limit: number | null
  /** Left for others. */
  readonly floor: number
  readonly resetAt: Date | null
  readonly holdUntil: Date | null
  readonly paused: boolean
}

export interface Outlook {
  readonly now: Date
  readonly lanes: readonly LaneWork[]
  /** Jobs that count against no lane. */
  readonly openJobs: number
  /** Jobs that ended, each second; null: none yet. */
  readonly perSecond: number | null
  /** Length of a budget's window. Default one hour. */
  readonly windowMs?: number
}

const hourMs = 3_600_000

/** Null when nothing is left, or when nobody can know: a pause, a budget without room, no pace yet. */
export function expectedEnd({ now, lanes, openJobs, perSecond, windowMs = hourMs }: Outlook): Date | null {
  const takesMs = (units: number): number => (units === 0 ? 0 : perSecond ? (units / perSecond) * 1_000 : Number.NaN)
  const busy = lanes.filter(({ units }) => units > 0)
  if (busy.length === 0 && openJobs === 0) return null
  const ends = busy.map((lane) => laneEnd(lane, now.getTime(), windowMs, takesMs))
  if (openJobs > 0) ends.push(now.getTime() + takesMs(openJobs))
  const end = Math.max(...ends)
  return Number.isFinite(end) && end <= lastTimeMs ? new Date(Math.ceil(end)) : null
}

const lastTimeMs = 8.64e15

function laneEnd(lane: LaneWork, now: number, windowMs: number, takesMs: (units: number) => number): number {
  const { units, remaining, limit, floor, resetAt, holdUntil, paused } = lane
  if (paused) return Number.NaN
  const start = Math.max(now, holdUntil?.getTime() ?? 0)
  const whole = limit === null ? null : limit - floor
  const windowEnd = resetAt?.getTime() ?? 0
  // After the reset the window is a new one, of which nothing is spent.
  const fresh = windowEnd <= start || remaining === null
  const room = fresh ? whole : Math.max(0, remaining - floor)
  if (room === null || units <= room) return start + takesMs(units)
  if (whole === null || whole <= 0) return Number.NaN
  const windows = Math.ceil((units - room) / whole)
  const last = units - room - (windows - 1) * whole
  const firstReset = fresh ? start + windowMs : windowEnd
  const byBudget = firstReset + (windows - 1) * windowMs + Math.min(windowMs, takesMs(last) || 0)
  return Math.max(byBudget, start + (takesMs(units) || 0))
}

/** A longer gap between two ends is a wait for a window, not the pace. */
const gapMsMax = 60_000

/** Jobs each second, from when the newest ones ended; null when that says nothing yet. */
export function paceOf(ends: readonly Date[]): number | null {
  const times = ends.map((end) => end.getTime()).toSorted((a, b) => a - b)
  const gaps = times.slice(1).map((time, at) => time - (times[at] as number))
  const working = gaps.filter((gap) => gap <= gapMsMax)
  const totalMs = working.reduce((sum, gap) => sum + gap, 0)
  return totalMs === 0 ? null : (working.length / totalMs) * 1_000
}
