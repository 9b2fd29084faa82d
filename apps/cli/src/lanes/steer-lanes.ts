/**
 * Lanes to steer: one row changes, however many jobs wait behind it. A lane that does not exist is not made by a typing error.
 */
import { type Duration, type Engine, toMs } from '@sluice/engine'
import { CommandError, exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'

export async function holdLane({ session, args: [name = '', text = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  const until = new Date(session.now() + toMs(text as Duration, 'duration'))
  await mustExist(engine, name)
  await engine.lanes.hold(name, until)
  session.output.answer({ name, holdUntil: until }, () => `${name} starts nothing until ${until.toISOString()}.`)
}

export async function pauseLane({ session, args: [name = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  await mustExist(engine, name)
  await engine.lanes.pause(name, options['reason'] as string | undefined)
  session.output.answer({ name, paused: true }, () => `${name} is paused.`)
}

export async function resumeLane({ session, args: [name = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  await mustExist(engine, name)
  const resumed = await engine.resume({ scope: 'lane', name })
  session.output.answer({ name, paused: false, resumed }, () => (resumed ? `${name} goes on.` : `${name} was not paused.`))
}

async function mustExist(engine: Engine, name: string): Promise<void> {
  if (!(await engine.lanes.find(name)))
    throw new CommandError(
      exit.notFound,
      'UNKNOWN_LANE',
      `There is no lane "${name}". \`sluice lanes list\` shows those that were used.`,
    )
}
