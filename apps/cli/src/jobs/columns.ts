/**
 * How jobs look in a table, and which colour a state has everywhere.
 */
import type { Job, JobState } from '@sluice/engine'
import type { Column } from '../terminal/table.ts'
import type { Colour } from '../terminal/terminal.ts'
import { relative, span } from '../terminal/times.ts'

const colours: Readonly<Record<JobState, Colour>> = {
  scheduled: 'dim',
  ready: 'blue',
  running: 'cyan',
  paused: 'yellow',
  succeeded: 'green',
  failed: 'red',
  canceled: 'magenta',
}

export function colourOf(state: JobState): Colour {
  return colours[state]
}

export function jobColumns(nowMs: number): Column<Job>[] {
  return [
    { title: 'id', value: ({ id }) => id, align: 'right' },
    { title: 'state', value: ({ state }) => state, paint: ({ state }) => colours[state] },
    { title: 'kind', value: ({ kind }) => kind, least: 10 },
    { title: 'lane', value: ({ lane }) => lane, least: 10, spare: true },
    { title: 'owner', value: ({ owner }) => owner, least: 6, spare: true },
    { title: 'made', value: ({ createdAt }) => relative(createdAt, nowMs) },
    { title: 'when', value: (job) => whenOf(job, nowMs), spare: true },
    { title: 'tries', value: ({ attempt, maxAttempts }) => triesOf(attempt, maxAttempts), align: 'right', spare: true },
    {
      title: 'about',
      value: (job) => job.error?.message ?? JSON.stringify(job.payload),
      least: 14,
      paint: (job) => (job.error ? 'red' : 'dim'),
    },
  ]
}

/** When it starts, since when it runs, how long it took. */
function whenOf({ state, runAt, startedAt, finishedAt }: Job, nowMs: number): string {
  if (state === 'scheduled') return relative(runAt, nowMs)
  if (state === 'running' && startedAt) return `for ${span(nowMs - startedAt.getTime())}`
  return startedAt && finishedAt ? `took ${span(finishedAt.getTime() - startedAt.getTime())}` : ''
}

function triesOf(attempt: number, max: number | null): string {
  if (attempt === 0) return ''
  return max === null ? String(attempt) : `${attempt}/${max}`
}
