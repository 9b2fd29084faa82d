/**
 * A typing error in a pool makes a pool, and a module that was left behind makes a kind that nobody knows: whoever does not look would not notice. Whoever
 * waits would not notice a pause either.
 */
import type { Engine, Explanation } from '@sluice/engine'
import type { Session } from './session.ts'

const nobody: readonly Explanation['reason'][] = ['no worker for this pool', 'no worker knows this kind']

/** Warns when no live process can run this job. */
export async function tellIfNobody(session: Session, engine: Engine, job: number): Promise<void> {
  await tellIf(nobody, session, engine, job)
}

/** For those who wait for its end: warns also when the job is kept back by a pause. Answers whether it did. */
export function tellIfStuck(session: Session, engine: Engine, job: number): Promise<boolean> {
  return tellIf([...nobody, 'paused'], session, engine, job)
}

async function tellIf(
  reasons: readonly Explanation['reason'][],
  { output }: Session,
  engine: Engine,
  job: number,
): Promise<boolean> {
  const { reason, text } = await engine.why(job)
  const isOne = reasons.includes(reason)
  if (isOne) output.warn(`Job ${job} waits. ${text}`)
  return isOne
}
