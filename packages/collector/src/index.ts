/** The door of the collector. Nothing else can be imported. */
export { type Collection, type Strategy, strategies } from './collection/collection.ts'
export type { Collections } from './collection/collections.ts'
export { type BackfillRange, Collector, type CollectorMake, type Requested, type RequestOptions } from './collector.ts'
export { CollectorError, type CollectorErrorCode, collectorErrors } from './errors.ts'
export { type ExportFormat, exportFormats } from './export/line.ts'
export { type ExportWhat, exportable } from './export/sources.ts'
export { collectorMigrations } from './migrations.ts'
export { type CollectorOptions, type CollectorParts, collectorParts } from './parts.ts'
export type { JobCounts, KindProgress, Progress } from './progress/progress.ts'
export type { Quota, QuotaWait } from './progress/quota.ts'
export { collectionRequested, type Trigger } from './request/request-event.ts'
export { runNames } from './request/run-names.ts'
export type { ExpectedCost } from './shadow/estimate.ts'
export type {
  NounDifference,
  ReportedSide,
  ShadowReport,
  ShadowStatistics,
} from './shadow/report.ts'
export type { Shadow, ShadowSide } from './shadow/shadow.ts'
export type { ShadowOptions, ShadowOutlook, ShadowProgress, Shadows } from './shadow/shadows.ts'
export type { Spent } from './spent/spent.ts'
export { type LeaderBy, leaderBys, type Standing, type Statistics } from './statistics/statistics.ts'
export type { GlobalStatistics, UserStatistics } from './statistics/statistics-store.ts'
export { strategyRolledBack } from './strategy/rolled-back.ts'
export type { Strategies, StrategyInForce } from './strategy/strategies.ts'
export type { Switch } from './strategy/switch.ts'
export { tokenRefused } from './token/refuse-token.ts'
export { checkLogin } from './user/ask-account.ts'
export { looksLikeToken } from './user/token-shape.ts'
export type { User } from './user/user.ts'
export type { NewUser, RegisteredUser, Users } from './user/users.ts'
