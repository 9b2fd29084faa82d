/**
 * The readable form: a bar for each contender by its median, the spread of its rounds, and the summary below.
 */
import type { Bench, Line } from '../bench.ts'
import { median, round } from '../measure/statistics.ts'

const barWidth = 40

export function table(name: string, bench: Bench, lines: readonly Line[], summary: Record<string, unknown>): string {
  const { figure, unit } = bench.headline
  const byContender = Map.groupBy(lines, ({ contender }) => contender)
  const rows = [...byContender].map(([contender, own]) => {
    const values = own.map(({ figures }) => figures[figure]).filter((value) => typeof value === 'number')
    return { contender, middle: median(values), least: Math.min(...values), most: Math.max(...values) }
  })
  const widest = Math.max(...rows.map(({ contender }) => contender.length))
  const longest = Math.max(...rows.map(({ middle }) => middle))
  const bars = rows.map(({ contender, middle, least, most }) => {
    const bar = '█'.repeat(Math.max(1, Math.round((middle / longest) * barWidth))).padEnd(barWidth)
    return `  ${contender.padEnd(widest)}  ${bar}  ${show(middle)} ${unit}  (${show(least)} … ${show(most)})`
  })
  const facts = Object.entries(summary).filter(([, value]) => value === null || typeof value !== 'object')
  const below = facts.map(([key, value]) => `  ${key}: ${typeof value === 'number' ? round(value) : String(value)}`)
  return [`${name}: ${bench.about}`, '', ...bars, '', ...below].join('\n')
}

const show = (value: number): string => round(value).toLocaleString('en')
