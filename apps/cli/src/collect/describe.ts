/**
 * A collection in words and bars: how far each kind is, what is left of the quota, when it may end. Pure: the same progress gives the same lines.
 */
import type { Progress } from '@sluice/collector'
import { drawBar } from '../terminal/live-lines.ts'
import type { Colour, Terminal } from '../terminal/terminal.ts'
import { cut, pad, plain, widthOf } from '../terminal/text.ts'
import { relative, span } from '../terminal/times.ts'

const stateColours: Readonly<Record<string, Colour>> = { completed: 'green', failed: 'red', canceled: 'magenta' }
const barMax = 40

/** In the order in which one leads to the next; kinds that are not named here come last. */
const order = [
  'profile',
  'events',
  'repositories',
  'verify',
  'commits',
  'commit statistics',
  'issues',
  'pull requests',
  'own pull requests',
]
/** The run's own jobs, which plan it and count the score. */
const isOwnJob = (kind: string): boolean => kind.startsWith('collector.collect')

export const count = (value: number): string => value.toLocaleString('en-US')

export const many = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** `github.commit-statistics` → `commit statistics`. */
function labelOf(kind: string): string {
  return plain(kind.slice(kind.indexOf('.') + 1)).replaceAll('-', ' ')
}

export function doneOf({ kinds }: Pick<Progress, 'kinds'>): string {
  const sum = (pick: (one: Progress['kinds'][number]) => number): number => kinds.reduce((all, one) => all + pick(one), 0)
  const failed = sum((one) => one.failed)
  return `${count(sum(({ done }) => done))} of ${count(sum(({ total }) => total))} jobs${failed > 0 ? `, ${count(failed)} failed` : ''}`
}

/** A line for each budget. */
export function describeQuota(quota: Progress['quota'], nowMs: number): string[] {
  return quota.map(({ resource, remaining, limit, resetAt, holdUntil, paused }) => {
    const left = remaining === null ? 'not known yet' : `${count(remaining)}${limit === null ? '' : ` of ${count(limit)}`} left`
    const waits = holdUntil && holdUntil.getTime() > nowMs ? `, waits ${span(holdUntil.getTime() - nowMs)}` : ''
    const resets = resetAt && resetAt.getTime() > nowMs ? `, resets ${relative(resetAt, nowMs)}` : ''
    return `${resource} ${left}${paused === null ? waits || resets : `, paused: ${plain(paused)}`}`
  })
}

function shownKinds({ kinds }: Progress): Progress['kinds'] {
  const place = (kind: string): number => (order.indexOf(labelOf(kind)) + order.length) % order.length
  return kinds.filter(({ kind }) => !isOwnJob(kind)).toSorted((a, b) => place(a.kind) - place(b.kind))
}

export function describeProgress(login: string, progress: Progress, nowMs: number, terminal: Terminal): string[] {
  const { run, quota } = progress
  const kinds = shownKinds(progress)
  const width = Math.max(40, (terminal.columns ?? 80) - 1)
  const labels = Math.max(12, ...kinds.map(({ kind }) => widthOf(labelOf(kind)))) + 2
  const figures = Math.max(7, ...kinds.map((one) => widthOf(figuresOf(one))))
  const barWidth = Math.max(6, Math.min(barMax, width - labels - figures - 2))
  const took = span((run.finishedAt?.getTime() ?? nowMs) - run.createdAt.getTime())
  const state = terminal.paint(stateColours[run.state] ?? 'cyan', run.state)
  const row = (title: string, text: string): string => terminal.paint('dim', pad(title, labels)) + cut(text, width - labels)
  return [
    `${terminal.paint('bold', cut(plain(login), 39))}  run ${run.id}  ${state}  ${terminal.paint('dim', took)}`,
    ...kinds.map((one) => {
      const { full, rest } = drawBar(one.total === 0 ? 0 : one.done / one.total, barWidth)
      const bar = terminal.paint(one.failed > 0 ? 'red' : one.done === one.total ? 'green' : 'cyan', full)
      return `${pad(labelOf(one.kind), labels)}${bar}${terminal.paint('dim', rest)}  ${pad(figuresOf(one), figures, 'right')}`
    }),
    ...describeQuota(quota, nowMs).map((line, at) => row(at === 0 ? 'quota' : '', line)),
    ...(run.finishedAt ? [] : [row('to go', toGo(progress, nowMs))]),
  ]
}

function figuresOf({ done, total, failed }: Progress['kinds'][number]): string {
  return `${count(done)}/${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`
}

function toGo({ remainingJobs, expectedEnd }: Progress, nowMs: number): string {
  const jobs = `${many(remainingJobs, 'job')} known so far`
  return expectedEnd ? `about ${span(Math.max(1_000, expectedEnd.getTime() - nowMs))}, ${jobs}` : jobs
}
