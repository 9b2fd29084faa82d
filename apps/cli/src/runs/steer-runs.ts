/**
 * Runs to steer.
 */
import type { Engine, Run } from '@sluice/engine'
import { idOf } from '../session/choices.ts'
import { CommandError, exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'

export async function cancelRun({ session, args: [text = ''], options }: Call): Promise<number> {
  const id = idOf(text)
  const { engine } = await session.system()
  const run = await findRun(engine, id)
  const answer = await engine.runs.cancel(id, options['reason'] as string | undefined)
  session.output.answer({ id, answer }, () =>
    answer === 'canceled' ? `Run ${id} is canceled.` : `Run ${id} is over already: ${run.state}.`,
  )
  return answer === 'canceled' ? exit.ok : exit.conflict
}

export async function retryRun({ session, args: [text = ''] }: Call): Promise<number> {
  const id = idOf(text)
  const { engine } = await session.system()
  await findRun(engine, id)
  const retried = await engine.runs.retryFailed(id)
  session.output.answer({ id, retried }, () =>
    retried === 0
      ? `Run ${id} has no failed job to retry.`
      : `${retried} failed ${retried === 1 ? 'job' : 'jobs'} of run ${id} ${retried === 1 ? 'runs' : 'run'} again.`,
  )
  return retried === 0 ? exit.conflict : exit.ok
}

export async function findRun(engine: Engine, id: number): Promise<Run> {
  const run = await engine.runs.find(id)
  if (!run) throw new CommandError(exit.notFound, 'UNKNOWN_RUN', `There is no run ${id}. \`sluice runs list\` shows the newest.`)
  return run
}
