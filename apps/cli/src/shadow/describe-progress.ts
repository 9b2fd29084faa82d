/**
 * A comparison under way, in words and bars: a bar a strategy, and what is left of the budgets that they share. Pure.
 */
import type { ShadowProgress } from '@sluice/collector'
import { describeQuota, describeWaits, doneOf, figuresOf, paintBar } from '../collect/describe.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { cut, pad, plain } from '../terminal/text.ts'
import { span } from '../terminal/times.ts'

const labels = 9
const barMax = 40

export function describeShadowProgress(login: string, seen: ShadowProgress, nowMs: number, terminal: Terminal): string[] {
  const { shadow, sides } = seen
  const width = Math.max(40, (terminal.columns ?? 80) - 1)
  const figures = Math.max(7, ...sides.map(({ progress: { jobs } }) => figuresOf(jobs).length))
  const states = Math.max(...sides.map(({ progress: { run } }) => run.state.length), 0)
  const barWidth = Math.max(6, Math.min(barMax, width - labels - figures - states - 4))
  const row = (title: string, text: string): string => terminal.paint('dim', pad(title, labels)) + cut(text, width - labels)
  const took = span(nowMs - shadow.createdAt.getTime())
  const end = endOf(seen, nowMs)
  return [
    `${terminal.paint('bold', cut(plain(login), 39))}  two strategies side by side  ${terminal.paint('dim', took)}`,
    ...sides.map(
      ({ strategy, progress: { jobs, run } }) =>
        `${pad(strategy, labels)}${paintBar(jobs, barWidth, terminal)}  ${pad(figuresOf(jobs), figures, 'right')}  ${run.state}`,
    ),
    ...describeQuota(sides[0]?.progress.quota ?? [], nowMs).map((line, at) => row(at === 0 ? 'quota' : '', line)),
    ...(end === '' ? [] : [row('to go', end)]),
  ]
}

export function describeShadowWaits({ sides }: ShadowProgress, nowMs: number): string {
  const underWay = sides.find(({ progress: { run } }) => run.finishedAt === null)
  return underWay ? describeWaits(underWay.progress, nowMs).join('; ') : ''
}

/** In one sentence, where nobody looks at it while it changes. */
export function sayShadowProgress(seen: ShadowProgress, nowMs: number): string {
  const waits = describeShadowWaits(seen, nowMs)
  const quota = waits === '' ? describeQuota(seen.sides[0]?.progress.quota ?? [], nowMs).join('; ') : `waits: ${waits}`
  return [...seen.sides.map(({ strategy, progress }) => `${strategy} ${doneOf(progress)}`), quota].join('; ')
}

/** The slower one counts. */
function endOf({ sides }: ShadowProgress, nowMs: number): string {
  const ends = sides.flatMap(({ progress: { expectedEnd } }) => expectedEnd?.getTime() ?? [])
  return ends.length === 0 ? '' : `about ${span(Math.max(1_000, Math.max(...ends) - nowMs))}`
}
