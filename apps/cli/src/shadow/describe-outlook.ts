/**
 * What a comparison will cost, beside what is left, told before it starts. Pure.
 */
import type { Quota, ShadowOutlook } from '@sluice/collector'
import { count } from '../collect/describe.ts'
import { span, wallTime } from '../terminal/times.ts'

const hourMs = 3_600_000

export interface ToldOutlook {
  readonly lines: readonly string[]
  readonly warnings: readonly string[]
}

export function describeOutlook({ sides, quota }: ShadowOutlook, nowMs: number): ToldOutlook {
  const costs = sides.map(
    ({ strategy, units }) => `${strategy} about ${count(units.core)} core and ${count(units.graphql)} graphql`,
  )
  const rooms = quota.map((one) => `${one.resource} ${roomText(one, nowMs)}`)
  const warnings = quota.flatMap((one) => {
    const wanted = sides.reduce((sum, { units }) => sum + units[one.resource], 0)
    return warningOf(one, wanted, nowMs)
  })
  return { lines: [`Units it will cost: ${costs.join('; ')}.`, `Above the floor there are: ${rooms.join('; ')}.`], warnings }
}

/** What jobs may take of this window; not known before the first answer. */
function roomOf({ remaining, limit, floor }: Quota): number | undefined {
  const left = remaining ?? limit
  return left === null ? undefined : Math.max(0, left - floor)
}

function roomText(quota: Quota, nowMs: number): string {
  const room = roomOf(quota)
  const { resetAt } = quota
  if (room === undefined) return 'as much as GitHub says with its first answer'
  return `${count(room)}${resetAt && resetAt.getTime() > nowMs ? ` until ${wallTime(resetAt, nowMs)}` : ''}`
}

function warningOf(quota: Quota, wanted: number, nowMs: number): string[] {
  const { resource, limit, floor, resetAt } = quota
  const room = roomOf(quota)
  if (room === undefined || wanted <= room) return []
  const whole = limit === null ? undefined : limit - floor
  const windows = whole !== undefined && whole > 0 ? Math.ceil((wanted - room) / whole) : undefined
  const waits = resetAt && resetAt.getTime() > nowMs ? ` at ${wallTime(resetAt, nowMs)}` : ''
  const more =
    windows === undefined || windows < 2 ? '' : `, and ${windows - 1} more after it, about ${span((windows - 1) * hourMs)}`
  return [
    `That is ${count(wanted - room)} ${resource} more than there are: it waits for the next window${waits}${more}. Other collections of this account wait as well.`,
  ]
}
