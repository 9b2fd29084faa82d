/**
 * What a server said about the budget of a lane: usually the headers of its answer.
 */
import { z } from 'zod'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'

export interface BudgetReport {
  /** Calls that are left in the window. */
  readonly remaining?: number | undefined
  /** The most a window holds, if the server tells. Kept for who asks how long something will take; a job that costs more is refused. */
  readonly limit?: number | undefined
  /** When the window ends. Without it a known number is believed for two hours. */
  readonly resetAt?: Date | undefined
  /** The server said to wait. */
  readonly holdUntil?: Date | undefined
  /** Permits that the call did not use: a 304 costs nothing. */
  readonly refund?: number | undefined
}

const aYearMs = 366 * 86_400_000
/** A window that ended a moment ago may be what a late answer speaks of; one of yesterday is a mistake. */
const lateMsMax = 300_000
const reportSchema = z.strictObject({
  remaining: z.int().min(0).max(2_000_000_000).optional(),
  limit: z.int().min(1).max(2_000_000_000).optional(),
  resetAt: z.date().optional(),
  holdUntil: z.date().optional(),
  refund: z.int().min(0).max(30_000).optional(),
})

export function checkReport(report: BudgetReport, nowMs: number): BudgetReport {
  checkFields(reportSchema, report, 'budget')
  for (const field of ['resetAt', 'holdUntil'] as const) {
    const atMs = report[field]?.getTime()
    if (atMs !== undefined && (atMs > nowMs + aYearMs || atMs < nowMs - lateMsMax))
      throw new SluiceError('INVALID_OPTION', {
        field: `budget.${field}`,
        problem: `${report[field]?.toISOString()} is far from now; servers often count in seconds, Date in milliseconds`,
      })
  }
  return report
}

const sameWindowMs = 5_000

/** Of two answers about one lane, the one to believe: the newer window, and in the same window the smaller number. */
export function laterReport(a: BudgetReport, b: BudgetReport): BudgetReport {
  const holdUntil = later(a.holdUntil, b.holdUntil)
  const [older, newer] = (a.resetAt?.getTime() ?? 0) <= (b.resetAt?.getTime() ?? 0) ? [a, b] : [b, a]
  if (newer.remaining === undefined) return { ...older, holdUntil }
  if (older.remaining === undefined) return { ...newer, holdUntil }
  const same = (newer.resetAt?.getTime() ?? 0) - (older.resetAt?.getTime() ?? 0) <= sameWindowMs
  return { ...newer, holdUntil, remaining: same ? Math.min(older.remaining, newer.remaining) : newer.remaining }
}

/** A handler that calls twice reports twice: what it did not use adds up. */
export function addReport(a: BudgetReport, b: BudgetReport): BudgetReport {
  return { ...laterReport(a, b), refund: (a.refund ?? 0) + (b.refund ?? 0) }
}

function later(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (!a || !b) return a ?? b
  return a > b ? a : b
}
