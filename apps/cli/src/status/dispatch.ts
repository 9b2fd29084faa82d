/**
 * Who hands out the jobs, for people: PostgreSQL, Redis, or PostgreSQL in place of a Redis that is away.
 */
import type { Dispatch, DispatchedProcess } from '@sluice/engine'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { relative, span } from '../terminal/times.ts'

/** One line. Processes that were given no Redis say nothing about it. */
export function renderDispatcher({ by, instead, processes }: Dispatch, nowMs: number): string {
  const served = processes.filter((one) => one.by === 'redis')
  if (served.length > 0)
    return `Redis, for ${served.length} of ${count(processes)}, the last connected ${relative(newest(served), nowMs)}`
  if (processes.length > 0) return `PostgreSQL in place of Redis, for ${span(nowMs - newest(processes).getTime())}`
  if (by === 'redis') return 'PostgreSQL; Redis answers, and no process uses it'
  return instead ? `PostgreSQL; ${plain(instead)}, and no process uses it` : 'PostgreSQL'
}

export function renderHeld({ pools }: Dispatch, terminal: Terminal): string {
  if (pools.length === 0) return ''
  return renderTable(
    [
      { title: 'in Redis', value: ({ pool }) => pool, least: 8 },
      { title: 'stream', value: ({ length }) => length, align: 'right' },
      { title: 'pending', value: ({ pending }) => pending, align: 'right' },
      { title: 'lag', value: ({ lag }) => lag, align: 'right' },
      { title: 'parked', value: ({ parked }) => parked, align: 'right' },
      { title: 'delayed', value: ({ delayed }) => delayed, align: 'right' },
      { title: 'taken over', value: ({ takenOver }) => takenOver, align: 'right' },
    ],
    pools,
    terminal,
  )
}

/** Processes that were given a Redis and work without it. */
export function describeAway({ processes }: Dispatch, nowMs: number): string[] {
  const away = processes.filter(({ by }) => by === 'postgres')
  const [first] = away.toSorted((a, b) => a.since.getTime() - b.since.getTime())
  if (!first) return []
  const whose = away.length === processes.length ? count(away) : `${away.length} of ${count(processes)}`
  return [
    `Redis is away for ${whose}, for ${span(Math.max(0, nowMs - first.since.getTime()))}: ${first.instead ?? 'it was not reached'}. PostgreSQL hands out their jobs. \`sluice doctor\` looks at it.`,
  ]
}

function count(processes: readonly DispatchedProcess[]): string {
  return processes.length === 1 ? '1 process' : `${processes.length} processes`
}

function newest(processes: readonly DispatchedProcess[]): Date {
  return new Date(Math.max(...processes.map(({ since }) => since.getTime())))
}
