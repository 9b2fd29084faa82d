/**
 * The limits of a lane, as people give them: by pattern for many lanes, or for one.
 */
import { z } from 'zod'
import { type Duration, durationField, toMs } from '../support/duration.ts'
import { checkFields } from '../support/issue.ts'
import { nameField } from '../support/text.ts'

export interface LaneLimits {
  /** Jobs that run at once. Default: no limit but the pools'. */
  readonly cap?: number | null
  /** A budget that a server sets: nothing is known of it until the first answer, so one job finds out before the rest. */
  readonly budget?: {
    /** Left for others. Default 100. */
    readonly floor?: number
    /** The most a window can hold, if known: a job that costs more is refused when it is enqueued. */
    readonly limit?: number
  }
  /** Its share beside other lanes. Default 1. */
  readonly weight?: number
  /** After so many failures in a row nothing starts for a while; then one job finds out. */
  readonly breaker?: { readonly after: number; readonly cooldown: Duration }
}

const defaultFloor = 100
const limitsSchema = z.strictObject({
  cap: z.int().min(1).max(1_000_000).nullable().optional(),
  budget: z
    .strictObject({ floor: z.int().min(0).max(2_000_000_000).optional(), limit: z.int().min(1).max(2_000_000_000).optional() })
    .refine(({ floor = defaultFloor, limit }) => limit === undefined || floor < limit, 'the floor leaves nothing of the limit')
    .optional(),
  weight: z.int().min(1).max(1_000).optional(),
  breaker: z.strictObject({ after: z.int().min(1).max(10_000), cooldown: durationField }).optional(),
})

/** The row of a class: everything is said. */
export function encodeClass(pattern: string, limits: LaneLimits): object {
  checkFields(nameField, pattern, 'lanes', pattern)
  return {
    pattern,
    cap: null,
    metered: false,
    budget_limit: null,
    budget_floor: 0,
    weight: 1,
    breaker_after: null,
    ...encodeLimits(pattern, limits),
  }
}

/** Only what is given. */
export function encodeLimits(lane: string, limits: LaneLimits): Record<string, unknown> {
  checkFields(limitsSchema, limits, 'lanes', lane)
  const { cap, budget, weight, breaker } = limits
  return {
    ...(cap === undefined ? {} : { cap }),
    ...(weight === undefined ? {} : { weight }),
    ...(budget ? { metered: true, budget_floor: budget.floor ?? defaultFloor, budget_limit: budget.limit ?? null } : {}),
    ...(breaker ? { breaker_after: breaker.after, breaker_ms: toMs(breaker.cooldown, `lanes.${lane}.breaker.cooldown`) } : {}),
  }
}
