/**
 * Follows what is published: a line an event, oldest first, from now on.
 */
import type { Engine, PublishedEvent } from '@sluice/engine'
import { exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import type { Call } from '../session/tree.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'

const beatMs = 5_000
const pageMax = 500

export async function tailEvents({ session, options }: Call): Promise<number> {
  session.stopsInOrder = true
  const { engine } = await session.system()
  const { type, owner } = options as { type?: string; owner?: string }
  const filter = { ...(type === undefined ? {} : { type }), ...(owner === undefined ? {} : { owner }) }
  const { output } = session
  let last: number | undefined
  for await (const _ of follow(engine, { topics: ['events'], beatMs, signal: session.interrupted })) {
    if (last === undefined) {
      last = (await engine.events.list({ limit: 1 }))[0]?.id ?? 0
      output.say('Waiting for events. Ctrl-C ends.')
      continue
    }
    for (const event of await newerThan(engine, last, filter)) {
      output.line(output.json ? JSON.stringify(event) : describe(event, output.terminal))
      last = Math.max(last, event.id)
    }
  }
  return exit.ok
}

/** Pages go from the newest back; what is shown goes forward. */
async function newerThan(engine: Engine, last: number, filter: { type?: string; owner?: string }): Promise<PublishedEvent[]> {
  const found: PublishedEvent[] = []
  for (let before: number | undefined; ; ) {
    const page = await engine.events.list({ ...filter, ...(before === undefined ? {} : { before }), limit: pageMax })
    const fresh = page.filter(({ id }) => id > last)
    found.unshift(...fresh.toReversed())
    if (fresh.length < pageMax) return found
    before = page.at(-1)?.id
  }
}

function describe({ id, type, publishedAt, owner, payload }: PublishedEvent, terminal: Terminal): string {
  const when = publishedAt.toISOString().slice(11, 23)
  return `${terminal.paint('dim', when)}  ${id}  ${terminal.paint('cyan', plain(type))}${owner ? `  ${plain(owner)}` : ''}  ${plain(JSON.stringify(payload))}`
}
