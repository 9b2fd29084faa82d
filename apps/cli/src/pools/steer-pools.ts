/**
 * Pools: who works for them, what waits there, which stand still, and how to change that. A pool that nobody named is not paused by a typing error.
 */
import type { Engine, SeenPool } from '@sluice/engine'
import { CommandError, codeOf, exit } from '../session/exit.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'
import { relative } from '../terminal/times.ts'

export async function listPools({ session }: Call): Promise<void> {
  const { engine } = await session.system()
  const items = await engine.inspect.pools()
  const now = session.now()
  const columns: Column<SeenPool>[] = [
    { title: 'pool', value: ({ name }) => name, least: 6 },
    {
      title: 'state',
      value: ({ paused }) => (paused ? 'paused' : 'on'),
      paint: ({ paused }) => (paused ? 'yellow' : 'green'),
    },
    { title: 'processes', value: ({ workers }) => workers, align: 'right' },
    { title: 'running', value: ({ running, max }) => `${running}/${max}`, align: 'right' },
    { title: 'ready', value: ({ ready: { count, more } }) => `${count}${more ? '+' : ''}`, align: 'right' },
    { title: 'next is ready since', value: ({ next }) => (next ? relative(next.since, now) : ''), spare: true },
    { title: 'why', value: ({ paused }) => paused?.reason, least: 10 },
  ]
  answerList(session, { items, next: undefined }, columns, 'There is no pool. Kinds and processes name them.')
}

export async function pausePool({ session, args: [name = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  await engine.pause({ scope: 'pool', name }, options['reason'] as string | undefined).catch((error: unknown) => {
    throw codeOf(error) === 'UNKNOWN_POOL' ? unknownPool(name) : error
  })
  session.output.answer({ name, paused: true }, () => `${name} is paused. Jobs that run go on.`)
}

export async function resumePool({ session, args: [name = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  const resumed = await engine.resume({ scope: 'pool', name })
  if (!resumed) await mustExist(engine, name)
  session.output.answer({ name, paused: false, resumed }, () => (resumed ? `${name} goes on.` : `${name} was not paused.`))
}

async function mustExist(engine: Engine, name: string): Promise<void> {
  const pools = await engine.inspect.pools()
  if (!pools.some((pool) => pool.name === name)) throw unknownPool(name)
}

function unknownPool(name: string): CommandError {
  return new CommandError(
    exit.notFound,
    'UNKNOWN_POOL',
    `There is no pool "${name}". \`sluice pools list\` shows those that kinds, jobs or processes name.`,
  )
}
