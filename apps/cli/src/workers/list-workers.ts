/**
 * Processes as the database knows them. One that was killed is `lost` from the end of its lease until the leader has cleared up after it.
 */
import type { SeenWorker } from '@sluice/engine'
import { isOnlooker } from '@sluice/server'
import type { Call } from '../session/tree.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { relative, span } from '../terminal/times.ts'

export async function listWorkers({ session }: Call): Promise<void> {
  const { engine } = await session.system()
  const [all, leader] = await Promise.all([engine.inspect.workers(), engine.inspect.leader()])
  const items = all.filter((one) => !isOnlooker(one))
  session.output.answer({ items, leader }, (terminal) =>
    items.length === 0 ? '' : renderTable(workerColumns(session.now()), items, terminal),
  )
  if (items.length === 0) session.output.say('No process works. Start `sluice up`, or `sluice worker` and `sluice scheduler`.')
  else if (leader.worker === undefined)
    session.output.warn('nobody leads: delayed jobs and schedules wait. Start `sluice scheduler` or `sluice up`.')
}

export function workerColumns(nowMs: number): Column<SeenWorker>[] {
  return [
    { title: 'id', value: ({ id }) => id, align: 'right' },
    { title: 'process', value: ({ name }) => name, least: 14 },
    {
      title: 'state',
      value: (one) => (one.leads ? `${one.state}, leads` : one.state),
      paint: ({ state }) => stateColours[state],
    },
    { title: 'running', value: (one) => runningOf(one), least: 8 },
    { title: 'kinds', value: ({ kinds }) => kinds.length, align: 'right', spare: true },
    { title: 'up', value: ({ startedAt }) => span(nowMs - startedAt.getTime()), spare: true },
    { title: 'beat', value: ({ beatAt }) => relative(beatAt, nowMs) },
  ]
}

const stateColours = { alive: 'green', stopping: 'yellow', lost: 'red' } as const

/** `light 3/10, heavy 0/5`: what runs, of what could. */
function runningOf({ pools, running }: SeenWorker): string {
  return Object.entries(pools)
    .map(([name, { max }]) => `${name} ${running[name] ?? 0}/${max}`)
    .join(', ')
}
