/** What a comparison tells: how each strategy went, what each stored, and what one has that the other lacks. */
import type { Strategy } from '../collection/collection.ts'
import type { Spent } from '../spent/spent.ts'
import type { UserStatistics } from '../statistics/statistics-store.ts'

export interface ShadowReport {
  readonly sides: readonly ReportedSide[]
  readonly nouns: readonly NounDifference[]
}

export interface ReportedSide {
  readonly strategy: Strategy
  readonly run: number
  /** The collection, if it was kept. */
  readonly collection: number | null
  /** completed, failed or canceled; one that did not complete has stored a part only. */
  readonly state: string
  readonly tookMs: number
  readonly jobs: number
  readonly failed: number
  /** Of its jobs, 0 to 1. */
  readonly errorRate: number
  readonly kinds: readonly { readonly kind: string; readonly jobs: number; readonly failed: number }[]
  readonly spent: readonly Spent[]
  /** Rows by noun. */
  readonly rows: Readonly<Record<string, number>>
  readonly statistics: ShadowStatistics
}

/** By the same formula as those that count, and of nobody. */
export type ShadowStatistics = Omit<UserStatistics, 'userId' | 'login' | 'run' | 'computedAt'>

export interface NounDifference {
  readonly noun: string
  /** In the order of the sides: rows that only this one has. */
  readonly only: readonly { readonly strategy: Strategy; readonly count: number; readonly examples: readonly string[] }[]
  /** Rows that both have, with other values. */
  readonly unlike: {
    readonly count: number
    readonly fields: readonly { readonly field: string; readonly count: number }[]
    readonly examples: readonly string[]
  }
}
