/**
 * Owners: who is paused, held or capped, and how to change that.
 */
import type { SeenOwner } from '@sluice/engine'
import { pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'
import { relative } from '../terminal/times.ts'

export async function listOwners({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  const now = session.now()
  const columns: Column<SeenOwner>[] = [
    { title: 'owner', value: ({ name }) => name, least: 12 },
    {
      title: 'state',
      value: ({ paused }) => (paused === null ? 'on' : 'paused'),
      paint: ({ paused }) => (paused === null ? 'green' : 'yellow'),
    },
    { title: 'lanes', value: ({ lanes }) => lanes, align: 'right' },
    { title: 'running', value: ({ inFlight, cap }) => (cap === null ? inFlight : `${inFlight}/${cap}`), align: 'right' },
    { title: 'held', value: ({ holdUntil }) => (holdUntil && holdUntil.getTime() > now ? relative(holdUntil, now) : '') },
    { title: 'why', value: ({ paused }) => paused, least: 10 },
  ]
  answerList(session, await engine.inspect.owners(pageOf(options)), columns, 'No owner has lanes or limits.')
}

/** Also for an owner that has no jobs yet: theirs will wait. */
export async function pauseOwner({ session, args: [name = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  await engine.owners.pause(name, options['reason'] as string | undefined)
  session.output.answer({ name, paused: true }, () => `${name} is paused. Jobs that run go on.`)
}

export async function resumeOwner({ session, args: [name = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  const resumed = await engine.resume({ scope: 'owner', name })
  session.output.answer({ name, paused: false, resumed }, () => (resumed ? `${name} goes on.` : `${name} was not paused.`))
}
