/**
 * Jobs of a shadow wait behind those of the live collection: they share lanes and budgets, and only the live one counts for anybody. Whatever a job of a shadow
 * leads to is as low as itself.
 */
import type { AnyKind, JobRequest, Outcome } from '@sluice/engine'
import { findCollection } from '../collection/collection.ts'
import { priorities } from '../walk/list-item.ts'
import type { Services } from '../walk/workshop.ts'

/** Steps of priority, a minute each: what becomes ready in the live collection within eight hours goes first. */
export const behind = 500

export function lowerNext(outcome: Outcome | void): Outcome | void {
  if (outcome?.type !== 'done' || !outcome.next) return outcome
  return { ...outcome, next: outcome.next.map(lower) }
}

function lower({ kind, options, ...rest }: JobRequest): JobRequest {
  const usual = options?.priority ?? (typeof kind === 'string' ? priorities.child : (kind as AnyKind).priority)
  return { kind, ...rest, options: { ...options, priority: usual - behind } }
}

/** What a collection is for never changes, so each is looked up once. */
export function lowering(): (kind: AnyKind) => AnyKind {
  const shadows = new Map<number, boolean>()
  return (kind) => {
    const run: AnyKind['run'] = async (job, services: Services): Promise<Outcome | void> => {
      const outcome = await kind.run(job, services)
      const id = (job.payload as { collection?: number }).collection
      if (id === undefined || outcome?.type !== 'done' || !outcome.next) return outcome
      const known = shadows.get(id) ?? (await findCollection(services.collector.engine, id))?.purpose === 'shadow'
      shadows.set(id, known)
      return known ? lowerNext(outcome) : outcome
    }
    return Object.assign((...args: Parameters<AnyKind>) => kind(...args), kind, { run })
  }
}
