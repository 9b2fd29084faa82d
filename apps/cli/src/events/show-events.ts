/**
 * Events to look at.
 */
import type { PublishedEvent } from '@sluice/engine'
import { idOf } from '../session/choices.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'
import { relative } from '../terminal/times.ts'

export async function listEvents({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  const { type, owner, limit = 50, before } = options as { type?: string; owner?: string; limit?: number; before?: string }
  const items = await engine.events.list({
    ...(type === undefined ? {} : { type }),
    ...(owner === undefined ? {} : { owner }),
    ...(before === undefined ? {} : { before: idOf(before) }),
    limit,
  })
  answerList(session, { items, next: undefined }, eventColumns(session.now()), 'Nothing was published.')
  if (items.length === limit && !session.output.json) session.output.say(`Older ones: --before ${items.at(-1)?.id ?? 0}`)
}

function eventColumns(nowMs: number): Column<PublishedEvent>[] {
  return [
    { title: 'id', value: ({ id }) => id, align: 'right' },
    { title: 'when', value: ({ publishedAt }) => relative(publishedAt, nowMs) },
    { title: 'event', value: ({ type }) => type, least: 10, paint: () => 'cyan' },
    { title: 'owner', value: ({ owner }) => owner, least: 8 },
    { title: 'job', value: ({ job }) => job, align: 'right' },
    { title: 'run', value: ({ run }) => run, align: 'right' },
    { title: 'payload', value: ({ payload }) => JSON.stringify(payload), least: 16, paint: () => 'dim' },
  ]
}
