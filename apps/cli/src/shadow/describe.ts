/**
 * A comparison in words: a line a figure, a column a strategy, and below it what one has and the other lacks. Pure: the same report gives the same lines.
 */
import type { NounDifference, ReportedSide, Shadow, ShadowReport } from '@sluice/collector'
import { count, many } from '../collect/describe.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { relative, span } from '../terminal/times.ts'

interface Line {
  readonly title: string
  readonly of: (side: ReportedSide) => string
}

export function describeReport(login: string, shadow: Shadow, nowMs: number, terminal: Terminal): string {
  const { report, createdAt, sides } = shadow
  const head = `${terminal.paint('bold', plain(login))}  ${sides.map(({ strategy }) => strategy).join(' and ')}, ${relative(createdAt, nowMs)}`
  if (!report) return `${head}\nunder way: ${sides.map(({ strategy, run }) => `${strategy} is run ${run}`).join(', ')}`
  const columns: Column<Line>[] = [
    { title: '', value: ({ title }) => title },
    ...report.sides.map((side): Column<Line> => ({ title: side.strategy, value: ({ of }) => of(side), align: 'right' })),
  ]
  return [head, renderTable(columns, linesOf(report), terminal), ...differencesOf(report)].join('\n')
}

function linesOf({ sides }: ShadowReport): Line[] {
  const kinds = [...new Set(sides.flatMap((side) => side.kinds.map(({ kind }) => kind)))].filter((kind) =>
    kind.startsWith('github.'),
  )
  const nouns = [...new Set(sides.flatMap(({ rows }) => Object.keys(rows)))]
  return [
    { title: 'state', of: ({ state }) => state },
    { title: 'took', of: ({ tookMs }) => span(tookMs) },
    { title: 'jobs', of: ({ jobs }) => count(jobs) },
    ...kinds.map(
      (kind): Line => ({ title: `  ${kind.slice('github.'.length).replaceAll('-', ' ')}`, of: (side) => jobsOf(side, kind) }),
    ),
    { title: 'failed', of: ({ failed, errorRate }) => `${count(failed)} (${(errorRate * 100).toFixed(1)} %)` },
    ...(['core', 'graphql'] as const).map(
      (resource): Line => ({ title: `${resource} units`, of: (side) => unitsOf(side, resource) }),
    ),
    ...nouns.map((noun): Line => ({ title: noun, of: ({ rows }) => count(rows[noun] ?? 0) })),
    { title: 'score', of: ({ statistics }) => statistics.score.toFixed(1) },
    { title: '  activity', of: ({ statistics }) => statistics.activity.toFixed(1) },
    { title: '  impact', of: ({ statistics }) => statistics.impact.toFixed(1) },
  ]
}

function jobsOf({ kinds }: ReportedSide, wanted: string): string {
  return count(kinds.find(({ kind }) => kind === wanted)?.jobs ?? 0)
}

function unitsOf({ spent }: ReportedSide, wanted: string): string {
  const { units = 0, calls = 0 } = spent.find(({ resource }) => resource === wanted) ?? {}
  return `${count(units)} in ${many(calls, 'call')}`
}

function differencesOf({ nouns }: ShadowReport): string[] {
  const lines = nouns.flatMap(describeNoun)
  return ['', ...(lines.length === 0 ? ['Both have stored the same.'] : lines)]
}

function describeNoun({ noun, only, unlike }: NounDifference): string[] {
  const fields = unlike.fields.map(({ field, count: rows }) => `${field} in ${count(rows)}`).join(', ')
  return [
    ...only
      .filter((side) => side.count > 0)
      .map((side) => `${noun}: ${count(side.count)} only by ${side.strategy}, as ${side.examples.map(plain).join(', ')}`),
    ...(unlike.count > 0
      ? [`${noun}: ${count(unlike.count)} differ (${fields}), as ${unlike.examples.map(plain).join(', ')}`]
      : []),
  ]
}
