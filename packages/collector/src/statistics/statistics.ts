/**
 * Statistics, as people read them: a user's newest ones and their history, the whole, and who leads.
 */
import type { Engine, Listed, Page, TransactionClient } from '@sluice/engine'

export interface UserStatistics {
  readonly userId: number
  readonly login: string
  readonly run: number
  /** Version of the formula. */
  readonly formula: number
  readonly computedAt: Date
  readonly repositories: number
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  /** Lines with the cap of each commit: what counts for the score. */
  readonly countedLines: number
  readonly activeDays: number
  readonly longestStreak: number
  readonly currentStreak: number
  readonly issuesSolved: number
  readonly pullRequests: number
  readonly pullRequestWeight: number
  readonly activity: number
  readonly impact: number
  readonly score: number
}

export interface GlobalStatistics {
  readonly run: number
  readonly computedAt: Date
  readonly formula: number
  readonly users: number
  readonly repositories: number
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  readonly issuesSolved: number
  readonly pullRequests: number
  readonly meanScore: number
  readonly medianScore: number
}

export interface Standing extends UserStatistics {
  /** 1 for the first. */
  readonly rank: number
}

export type LeaderBy = 'score' | 'activity' | 'impact'

export class Statistics {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async user(_userId: number): Promise<UserStatistics | undefined> {
    void this.#engine
    throw new Error('to come')
  }

  /** Newest first. */
  async history(_userId: number, _page: Page = {}): Promise<Listed<UserStatistics>> {
    throw new Error('to come')
  }

  async global(): Promise<GlobalStatistics | undefined> {
    throw new Error('to come')
  }

  async globalHistory(_page: Page = {}): Promise<Listed<GlobalStatistics>> {
    throw new Error('to come')
  }

  async leaderboard(_options: { by?: LeaderBy; page?: Page } = {}): Promise<Listed<Standing>> {
    throw new Error('to come')
  }

  /** From what is stored now; a second time for the same run it replaces the first. */
  async compute(_tx: TransactionClient, _userId: number, _run: number): Promise<UserStatistics> {
    throw new Error('to come')
  }

  /** From everybody's newest statistics. */
  async computeGlobal(_tx: TransactionClient, _run: number): Promise<GlobalStatistics> {
    throw new Error('to come')
  }
}
