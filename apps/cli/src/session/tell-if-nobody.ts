/**
 * A typing error in a pool makes a pool, a module that was left behind makes a kind that nobody knows, and where only workers run nobody makes delayed jobs
 * ready: whoever does not look would not notice. Whoever waits would not notice a pause either.
 */
import type { Engine, Explanation } from '@sluice/engine'
import type { Session } from './session.ts'

type Reasons = readonly Explanation['reason'][]

const nobody: Reasons = ['no worker for this pool', 'no worker knows this kind']
/** They tell as well when nobody leads. */
const timed: Reasons = ['not before', 'waiting for leader']

/** Warns when no live process can run this job. */
export async function tellIfNobody(session: Session, engine: Engine, job: number): Promise<void> {
  await tellIf(nobody, session, engine, job)
}

/** For those who wait for its end: warns also when the job is kept back by a pause. Answers whether it did. */
export function tellIfStuck(session: Session, engine: Engine, job: number): Promise<boolean> {
  return tellIf([...nobody, 'paused'], session, engine, job)
}

async function tellIf(reasons: Reasons, { output }: Session, engine: Engine, job: number): Promise<boolean> {
  const { reason, text } = await engine.why(job)
  const isOne = reasons.includes(reason) || (timed.includes(reason) && (await engine.inspect.leader()).worker === undefined)
  if (isOne) output.warn(`Job ${job} waits. ${text}`)
  return isOne
}
