/**
 * A typing error in a pool makes a pool, and a module that was left behind makes a kind that nobody knows: whoever does not look would not notice.
 */
import type { Engine } from '@sluice/engine'
import type { Session } from './session.ts'

/** Warns when no live process can run this job. */
export async function tellIfNobody(session: Session, engine: Engine, job: number): Promise<void> {
  const { reason, text } = await engine.why(job)
  if (reason === 'no worker for this pool' || reason === 'no worker knows this kind') session.output.warn(text)
}
