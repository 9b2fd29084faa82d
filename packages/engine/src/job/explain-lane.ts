/**
 * Why a job does not leave its lane: the first reason that holds, in the order in which a claim looks.
 */
import type { Explanation, Holder, LaneAround, OwnerAround, Surroundings } from './explanation.ts'
import type { Job } from './job-store.ts'

export function explainLane(job: Job, { now, lane, owner }: Surroundings): Explanation | undefined {
  return (owner && explainOwner(owner, now)) || (lane ? explainLimits(job.lane, lane, now) : undefined)
}

function explainOwner(owner: OwnerAround, now: Date): Explanation | undefined {
  const whose = `The owner ${owner.name}`
  if (owner.heldBy) return explainHeld(whose, owner.heldBy)
  if (owner.paused !== null) return paused(whose, owner.paused)
  const held = ahead(owner.holdUntil, now)
  if (held) return { reason: 'held', text: `${whose} is held until ${held.toISOString()}.`, until: held }
  return owner.cap !== null && owner.inFlight >= owner.cap ? full(whose, owner.cap) : undefined
}

function explainLimits(name: string, lane: LaneAround, now: Date): Explanation | undefined {
  const which = `The lane ${name}`
  if (lane.heldBy) return explainHeld(which, lane.heldBy)
  if (lane.paused !== null) return paused(which, lane.paused)
  const held = ahead(lane.holdUntil, now)
  if (held) return { reason: 'held', text: `${which} is held until ${held.toISOString()}.`, until: held }
  const broken = ahead(lane.brokenUntil, now)
  if (broken)
    return {
      reason: 'breaker open',
      text: `${which} failed too often in a row; nothing starts before ${broken.toISOString()}, then one job finds out.`,
      until: broken,
    }
  const unknown = lane.metered && lane.permits === null
  if (lane.inFlight > 0 && (unknown || lane.brokenUntil !== null))
    return {
      reason: 'one job finds out',
      text: `${which} lets one job find out ${unknown ? 'its budget' : 'whether it works again'}; the rest waits for its end.`,
    }
  if (lane.cap !== null && lane.inFlight >= lane.cap) return full(which, lane.cap)
  const reset = ahead(lane.resetAt, now)
  if (lane.metered && lane.permits !== null && lane.permits < lane.cost && reset)
    return { reason: 'budget used up', text: `${which} has used up its budget until ${reset.toISOString()}.`, until: reset }
  return undefined
}

/** It starts nothing and ends nothing, and nobody can resume it either: so this comes before all other reasons. */
export function explainHeld(what: string, { pid, application, since }: Holder): Explanation {
  const who = application === '' ? `session ${pid}` : `session ${pid} (${application})`
  return {
    reason: 'in an open transaction',
    text: `${what} is in a transaction that ${who} has kept open since ${new Date(since).toISOString()}. It goes on when that commits or rolls back; "select pg_terminate_backend(${pid})" ends it.`,
  }
}

function paused(what: string, reason: string): Explanation {
  return { reason: 'paused', text: `${what} is paused${reason === 'paused' ? '' : `: ${reason}`}. Resume it to go on.` }
}

function full(what: string, cap: number): Explanation {
  return { reason: 'cap reached', text: `${what} runs as many jobs as it may: ${cap}. It starts when one of them ends.` }
}

function ahead(time: string | null, now: Date): Date | undefined {
  const date = time === null ? undefined : new Date(time)
  return date && date > now ? date : undefined
}
