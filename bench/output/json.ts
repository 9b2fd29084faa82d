/**
 * One JSON object a line. Figures are rounded to four digits; ids and counts stay whole.
 */
import type { Line } from '../bench.ts'
import { round } from '../measure/statistics.ts'

export const lineAsJson = (bench: string, { round, contender, figures }: Line): string =>
  JSON.stringify({ bench, round, contender, ...figures }, rounded)

export const summaryAsJson = (bench: string, summary: Record<string, unknown>): string =>
  JSON.stringify({ bench, summary: true, ...summary }, rounded)

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? round(value) : value
