/**
 * Schedules to steer. Every process obeys from the moment it has committed.
 */
import { exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'

export async function pauseSchedule({ session, args: [name = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  await engine.schedules.pause(name, options['reason'] as string | undefined)
  session.output.answer({ name, paused: true }, () => `${name} is paused.`)
}

export async function resumeSchedule({ session, args: [name = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  const resumed = await engine.schedules.resume(name)
  session.output.answer({ name, paused: false, resumed }, () => (resumed ? `${name} goes on.` : `${name} was not paused.`))
}

export async function runSchedule({ session, args: [name = ''] }: Call): Promise<number> {
  const { engine } = await session.system()
  const { id, created } = await engine.schedules.runNow(name)
  session.output.answer({ name, job: id, created }, () =>
    created ? `Job ${id} is enqueued.` : `Job ${id} of this schedule is still live, and it may not overlap.`,
  )
  return created ? exit.ok : exit.conflict
}
