/**
 * Kinds: which are known, which stand still, and how to change that. A kind that nobody registered is not paused by a typing error.
 */
import type { Engine, SeenKind } from '@sluice/engine'
import { answerList } from '../session/listing.ts'
import { unknownKind } from '../session/meant-kind.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'

const columns: readonly Column<SeenKind>[] = [
  { title: 'kind', value: ({ name }) => name, least: 12 },
  {
    title: 'state',
    value: ({ paused }) => (paused ? 'paused' : 'on'),
    paint: ({ paused }) => (paused ? 'yellow' : 'green'),
  },
  { title: 'pool', value: ({ pool }) => pool, least: 6 },
  { title: 'processes', value: ({ workers }) => workers, align: 'right' },
  { title: 'attempts', value: ({ maxAttempts }) => maxAttempts, align: 'right', spare: true },
  { title: 'lane', value: ({ lane }) => lane, least: 8, spare: true },
  { title: 'on', value: ({ on }) => on.join(', '), least: 8, spare: true },
  { title: 'why', value: ({ paused }) => paused?.reason, least: 10 },
]

export async function listKinds({ session }: Call): Promise<void> {
  const { engine } = await session.system()
  const items = await engine.inspect.kinds()
  answerList(session, { items, next: undefined }, columns, 'There is no kind. Processes bring them when they start.')
}

export async function pauseKind({ session, args: [name = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  await mustExist(engine, name)
  await engine.pause({ scope: 'kind', name }, options['reason'] as string | undefined)
  session.output.answer({ name, paused: true }, () => `${name} is paused. Jobs that run go on.`)
}

/** Also one that nobody knows any more: its pause may have outlived it. */
export async function resumeKind({ session, args: [name = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  const resumed = await engine.resume({ scope: 'kind', name })
  if (!resumed) await mustExist(engine, name)
  session.output.answer({ name, paused: false, resumed }, () => (resumed ? `${name} goes on.` : `${name} was not paused.`))
}

async function mustExist(engine: Engine, name: string): Promise<void> {
  const kinds = await engine.inspect.kinds()
  if (!kinds.some((kind) => kind.name === name)) throw await unknownKind(engine, name)
}
