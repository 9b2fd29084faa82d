/**
 * What is left of a user's budgets, and what they wait for: a limit that GitHub has set, or the next window, when nothing is left above the floor.
 */
import type { Engine, Lane } from '@sluice/engine'
import sql from 'sql-template-tag'
import { laneOf, ownerOf } from '../request/run-names.ts'
import { type Resource, resources } from '../spent/spent.ts'

export interface Quota {
  readonly resource: Resource
  /** In this window, the floor included; null before the first answer, and when the window has ended. */
  readonly remaining: number | null
  readonly limit: number | null
  /** Left for the user's other tools. */
  readonly floor: number
  /** The end of the window that GitHub told last. */
  readonly resetAt: Date | null
  readonly holdUntil: Date | null
  /** The reason. */
  readonly paused: string | null
  /** Why nothing is sent just now, and when it goes on. */
  readonly waits: QuotaWait | null
}

export interface QuotaWait {
  /** hold: GitHub asked for a pause. window: nothing is left above the floor. */
  readonly for: 'hold' | 'window'
  readonly until: Date
}

type Owner = Awaited<ReturnType<Engine['owners']['find']>>

export async function findQuota(engine: Engine, userId: number): Promise<Quota[]> {
  const owner = ownerOf(userId)
  const [lanes, held, { rows }] = await Promise.all([
    engine.lanes.list({ owner }),
    engine.owners.find(owner),
    engine.query<{ now: Date }>(sql`select sluice.now() as now`),
  ])
  const { now } = rows[0] as { now: Date }
  return resources.map((resource) => {
    const lane = lanes.find(({ name }) => name === laneOf(userId, resource))
    return quotaOf(resource, lane, held, now)
  })
}

/** What holds or pauses the owner holds or pauses each of its lanes. */
function quotaOf(resource: Resource, lane: Lane | undefined, owner: Owner, now: Date): Quota {
  const { remaining = null, limit = null, floor = 0, resetAt = null } = lane ?? {}
  const holdUntil = later(lane?.holdUntil ?? null, owner?.holdUntil ?? null)
  const paused = owner?.paused ?? lane?.paused ?? null
  const quota = { resource, remaining, limit, floor, resetAt, holdUntil, paused }
  return { ...quota, waits: waitOf(quota, now) }
}

/** A pause has no end that anybody knows, so it is no wait. */
export function waitOf(
  { remaining, floor, resetAt, holdUntil, paused }: Omit<Quota, 'waits' | 'resource' | 'limit'>,
  now: Date,
): QuotaWait | null {
  if (paused !== null) return null
  const hold = holdUntil && holdUntil > now ? holdUntil : null
  const reset = remaining !== null && remaining <= floor && resetAt && resetAt > now ? resetAt : null
  if (hold && !(reset && reset > hold)) return { for: 'hold', until: hold }
  return reset && { for: 'window', until: reset }
}

function later(one: Date | null, other: Date | null): Date | null {
  return one && other ? (one > other ? one : other) : (one ?? other)
}
