/**
 * A collection in words and bars: how far each kind is, what is left of the quota, when it may end. Pure: the same progress gives the same lines.
 */
import { type JobCounts, type Progress, type Quota, type QuotaWait, runNames } from '@sluice/collector'
import { drawBar } from '../terminal/live-lines.ts'
import type { Colour, Terminal } from '../terminal/terminal.ts'
import { cut, pad, plain, widthOf } from '../terminal/text.ts'
import { relative, span, wallTime } from '../terminal/times.ts'

const stateColours: Readonly<Record<string, Colour>> = { completed: 'green', failed: 'red', canceled: 'magenta' }
const barMax = 40

/** In the order in which one leads to the next; kinds that are not named here come last. */
const order = [
  'plan',
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
export const count = (value: number): string => value.toLocaleString('en-US')

export const many = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** `github.commit-statistics` → `commit statistics`; the run's own job plans it. */
function labelOf(kind: string): string {
  if (kind === runNames.collect) return 'plan'
  return plain(kind.slice(kind.indexOf('.') + 1)).replaceAll('-', ' ')
}

/** How many have ended, well or not. */
export function doneOf({ jobs: { total, done, failed } }: Pick<Progress, 'jobs'>): string {
  return `${count(done + failed)} of ${many(total, 'job')}${failed > 0 ? `, ${count(failed)} failed` : ''}`
}

/** A line for each budget. */
export function describeQuota(quota: Progress['quota'], nowMs: number): string[] {
  return quota.map((one) => `${one.resource} ${leftOf(one, nowMs)}${nextOf(one, nowMs)}`)
}

function leftOf({ remaining, limit, resetAt }: Quota, nowMs: number): string {
  const whole = limit === null ? '' : ` of ${count(limit)}`
  if (remaining !== null) return `${count(remaining)}${whole} left`
  if (resetAt === null) return 'not asked yet'
  return `${limit === null ? 'whole' : `${count(limit)} left`} again since ${wallTime(resetAt, nowMs)}`
}

function nextOf({ remaining, floor, resetAt, paused, waits }: Quota, nowMs: number): string {
  if (paused !== null) return `, paused: ${plain(paused)}`
  if (waits) return `, ${reasonOf(waits, remaining, floor)}; goes on at ${wallTime(waits.until, nowMs)}`
  return resetAt && resetAt.getTime() > nowMs ? `, resets ${relative(resetAt, nowMs)}` : ''
}

function reasonOf({ for: what }: QuotaWait, remaining: number | null, floor: number): string {
  if (what === 'hold') return 'GitHub asked for a pause'
  return floor === 0 || remaining === 0 ? 'the window is spent' : 'all of it floor'
}

/** What each budget that holds up this collection waits for; nothing while it goes on. */
export function describeWaits({ quota, run }: Progress, nowMs: number): string[] {
  if (run.finishedAt) return []
  return quota.flatMap((one) => (one.waits || one.paused !== null ? describeQuota([one], nowMs) : []))
}

function shownKinds({ kinds }: Progress): Progress['kinds'] {
  const place = (kind: string): number => (order.indexOf(labelOf(kind)) + order.length) % order.length
  return kinds.toSorted((a, b) => place(a.kind) - place(b.kind))
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
      const bar = paintBar(one, barWidth, terminal)
      return `${pad(labelOf(one.kind), labels)}${bar}  ${pad(figuresOf(one), figures, 'right')}`
    }),
    ...describeQuota(quota, nowMs).map((line, at) => row(at === 0 ? 'quota' : '', line)),
    ...(run.finishedAt ? [] : [row('to go', toGo(progress, nowMs))]),
  ]
}

export function paintBar({ done, total, failed }: JobCounts, width: number, terminal: Terminal): string {
  const ended = done + failed
  const { full, rest } = drawBar(total === 0 ? 0 : ended / total, width)
  return terminal.paint(failed > 0 ? 'red' : ended === total ? 'green' : 'cyan', full) + terminal.paint('dim', rest)
}

export function figuresOf({ done, total, failed }: JobCounts): string {
  return `${count(done + failed)}/${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`
}

function toGo({ remainingJobs, expectedEnd }: Progress, nowMs: number): string {
  const jobs = `${many(remainingJobs, 'job')} known so far`
  return expectedEnd ? `about ${span(Math.max(1_000, expectedEnd.getTime() - nowMs))}, ${jobs}` : jobs
}
