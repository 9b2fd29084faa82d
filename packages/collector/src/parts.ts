/**
 * Everything of the collector that an engine is made with, and the way to bind it: `createEngine({ …, ...parts })`, then `parts.open(engine)` before the
 * engine starts.
 */
import {
  type AnyEvent,
  type AnyKind,
  type Duration,
  defineSchedule,
  type Engine,
  type LaneLimits,
  type MigrationSet,
  type RunKind,
  type Schedule,
  toMs,
} from '@sluice/engine'
import { createGithub, type GithubOptions } from '@sluice/github'
import { backfill } from './backfill/backfill.ts'
import { backfillCommits } from './backfill/commits.ts'
import { backfillSlice } from './backfill/slice.ts'
import { startBackfill } from './backfill/start-backfill.ts'
import type { Strategy } from './collection/collection.ts'
import { Collector } from './collector.ts'
import { collectorMigrations } from './migrations.ts'
import { collect } from './request/collect.ts'
import { daily, dailyRequest } from './request/daily.ts'
import { request } from './request/request.ts'
import { collectionRequested } from './request/request-event.ts'
import { endShadow } from './shadow/end-shadow.ts'
import { lowering } from './shadow/lowered.ts'
import { shadowEnded } from './shadow/shadow-ended.ts'
import { shadowRuns } from './shadow/shadow-run.ts'
import { metered } from './spent/metered.ts'
import { strategyRolledBack } from './strategy/rolled-back.ts'
import { giveUp } from './token/give-up.ts'
import { tokenRefused } from './token/refuse-token.ts'
import { prune } from './upkeep/prune.ts'
import { commitStatistics } from './walk/commit-statistics.ts'
import { commits } from './walk/commits.ts'
import { events } from './walk/events.ts'
import { issues } from './walk/issues.ts'
import { ownPullRequests } from './walk/own-pull-requests.ts'
import { profile } from './walk/profile.ts'
import { pullRequests } from './walk/pull-requests.ts'
import { repositories } from './walk/repositories.ts'
import { verifyRepository } from './walk/verify-repository.ts'
import { type Affiliation, Workshop } from './walk/workshop.ts'

export interface CollectorOptions {
  readonly github?: GithubOptions
  /** For users that have no strategy of their own. Default graphql. */
  readonly strategy?: Strategy
  /** Whose repositories are collected. Default the user's own and those it collaborates in. */
  readonly affiliations?: readonly Affiliation[]
  /** When everybody is collected, and over how long that is spread. Default at 3 o'clock UTC, over six hours; false: never. */
  readonly daily?: { readonly cron?: string; readonly zone?: string; readonly spread?: Duration } | false
  /** Left of each budget for the user's other tools. Default 100. */
  readonly floor?: number
  /** Calls at once on behalf of one user, of each resource. GitHub dislikes more than a hundred. Default 10. */
  readonly cap?: number
  /** How far before its own beginning a walk's successor looks. Default ten minutes. */
  readonly overlap?: Duration
  /** How many days ended runs and settled switches are remembered, as the engine's `keepDays`. Default 30. */
  readonly keepDays?: number
  /** When a switch of strategy is taken back: share of failed jobs (default 0.05), times as long as before (2) beyond the slack (10 s), over so many runs (3). */
  readonly watch?: { readonly errorRate?: number; readonly times?: number; readonly slack?: Duration; readonly runs?: number }
}

export interface CollectorParts {
  readonly kinds: readonly AnyKind[]
  readonly runs: readonly RunKind[]
  readonly schedules: readonly Schedule[]
  readonly events: readonly AnyEvent[]
  readonly lanes: Readonly<Record<string, LaneLimits>>
  readonly migrations: readonly MigrationSet[]
  readonly services: { readonly collector: Workshop }
  open(engine: Engine): Collector
}

const kinds: readonly AnyKind[] = [
  profile,
  events,
  repositories,
  commits,
  commitStatistics,
  issues,
  pullRequests,
  ownPullRequests,
  verifyRepository,
  request,
  daily,
  dailyRequest,
  giveUp,
  endShadow,
  prune,
  backfillSlice,
  backfillCommits,
]

export function collectorParts(options: CollectorOptions = {}): CollectorParts {
  const {
    strategy = 'graphql',
    affiliations = ['OWNER', 'COLLABORATOR'],
    floor = 100,
    cap = 10,
    overlap = '10m',
    keepDays = 30,
  } = options
  const { cron = '0 3 * * *', zone = 'UTC', spread = '6h' } = options.daily || {}
  const { errorRate = 0.05, times = 2, slack = '10s', runs = 3 } = options.watch ?? {}
  const github = createGithub(options.github)
  const workshop = new Workshop(github, {
    strategy,
    affiliations,
    overlapMs: toMs(overlap, 'overlap'),
    spreadMs: toMs(spread, 'daily.spread'),
    keepDays,
    watch: { errorRate, times, slackMs: toMs(slack, 'watch.slack'), runs },
    now: options.github?.now ?? Date.now,
  })
  const limits: LaneLimits = { budget: { floor }, cap }
  const lowered = lowering()
  return {
    kinds: kinds.map((kind) => metered(lowered(kind))),
    runs: [collect, ...shadowRuns, backfill],
    schedules: [
      ...(options.daily === false ? [] : [defineSchedule('collector.daily', { cron, zone, job: daily({}), overlap: 'forbid' })]),
      defineSchedule('collector.prune', { cron: '40 2 * * *', job: prune({}), overlap: 'forbid' }),
    ],
    events: [collectionRequested, tokenRefused, strategyRolledBack, shadowEnded],
    lanes: { 'github:*:core': limits, 'github:*:graphql': limits },
    migrations: [collectorMigrations],
    services: { collector: workshop },
    open(engine) {
      workshop.bind(engine)
      return new Collector({ engine, github, strategy, backfill: (userId, range) => startBackfill(engine, userId, range) })
    },
  }
}
