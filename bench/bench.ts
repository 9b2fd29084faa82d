/**
 * What a bench is: a name, what it shows, its main figure for the table, and a function that measures.
 *
 * It reports each round of each contender as soon as it has it, and answers with the summary.
 */
import type { Ground } from './ground.ts'
import type { RoundsPlan } from './measure/rounds.ts'

export type Figure = number | string | boolean | null | readonly number[]
export type Figures = Readonly<Record<string, Figure>>

export interface Line {
  readonly round: number
  readonly contender: string
  readonly figures: Figures
}

export interface Setting {
  readonly ground: Ground
  readonly quick: boolean
  readonly plan: RoundsPlan
  report(line: Line): void
}

export interface Bench {
  readonly about: string
  readonly needsRedis: boolean
  /** The figure of each line that the table shows, as a median. */
  readonly headline: { readonly figure: string; readonly unit: string }
  run(setting: Setting): Promise<Record<string, unknown>>
}
