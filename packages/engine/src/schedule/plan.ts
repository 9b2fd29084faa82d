/**
 * What to do about a schedule that is due: which of its fires get a job, how many are left out, and when it is due next. Pure.
 *
 * A fire that is late is the same case whether the process was down, nobody led, or the clock was set forward: the policy for catching up
 * says which of the fires up to now still count, the deadline how late they may be. `none` is `latest` with a deadline of a minute, because
 * a change of leaders takes seconds and must not cost a fire.
 */
import { createHash } from 'node:crypto'
import { type Fires, parseCron } from './cron.ts'

export type Overlap = 'allow' | 'forbid' | 'replace'
export type CatchUp = 'none' | 'latest' | 'all'

export interface Due {
  readonly name: string
  readonly cron: string
  readonly zone: string
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly deadlineMs: number | undefined
  readonly jitterMs: number
  /** Unknown after a change by hand: then only the next fire is worked out. */
  readonly nextMs: number | undefined
}

export interface Plan {
  /** Fires that get a job, oldest first, and when each job may start. */
  readonly fires: readonly { readonly atMs: number; readonly startMs: number }[]
  readonly missed: number
  /** More were missed than are caught up with; `missed` stands for those that were counted. */
  readonly cut: boolean
  readonly thenMs: number
}

const onTimeMs = 60_000
/** The newest of them are kept. */
export const caughtUpMax = 1_000

/** Throws INVALID_CRON or INVALID_ZONE: a row may have been written by hand. */
export function planFires(due: Due, nowMs: number): Plan {
  const { name, cron, zone, jitterMs, nextMs } = due
  const expression = parseCron(cron, zone)
  const thenMs = expression.next(nowMs)
  if (nextMs === undefined || nextMs > nowMs) return { fires: [], missed: 0, cut: false, thenMs: nextMs ?? thenMs }
  const passed = passedFires(expression, nextMs, nowMs)
  const inTime = passed.filter((atMs) => nowMs - atMs <= limitMs(due))
  // Where only one job may be live, of several at once only the last would stay.
  const chosen = due.catchUp === 'all' && due.overlap === 'allow' ? inTime.slice(-caughtUpMax) : inTime.slice(-1)
  return {
    fires: chosen.map((atMs) => ({ atMs, startMs: atMs + jitterOf(name, atMs, jitterMs) })),
    missed: passed.length - chosen.length,
    cut: passed.length > caughtUpMax,
    thenMs,
  }
}

/** The stored time and all after it up to now. A schedule by the second that was down for a year has millions: then the newest. */
function passedFires(expression: Fires, nextMs: number, nowMs: number): number[] {
  const passed = [nextMs]
  for (let atMs = expression.next(nextMs); atMs <= nowMs; atMs = expression.next(atMs)) {
    if (passed.length > caughtUpMax) return expression.last(nowMs, caughtUpMax + 1)
    passed.push(atMs)
  }
  return passed
}

function limitMs({ catchUp, deadlineMs }: Due): number {
  return deadlineMs ?? (catchUp === 'none' ? onTimeMs : Number.POSITIVE_INFINITY)
}

/** From 0 to less than `jitterMs`, the same for the same schedule and fire in every process. */
function jitterOf(name: string, atMs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0
  const hash = createHash('sha256').update(`${name}\n${atMs}`).digest()
  return Math.floor((hash.readUIntBE(0, 6) / 2 ** 48) * jitterMs)
}

/** The next fires for people to look at, the stored one first. */
export function upcomingFires({ cron, zone }: { cron: string; zone: string }, nextAt: Date, count: number): Date[] {
  const expression = parseCron(cron, zone)
  const fires = [nextAt]
  while (fires.length < count) fires.push(new Date(expression.next((fires.at(-1) as Date).getTime())))
  return fires.slice(0, count)
}
