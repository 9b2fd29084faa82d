/** The door of the engine. Nothing else can be imported. */
export { createEngine, type Engine, type EnqueueOptions } from './engine.ts'
export {
  type AnyEvent,
  defineEvent,
  type EventDefinition,
  type EventOptions,
  type EventRequest,
  type EventType,
} from './event/event.ts'
export type { EventPage, PublishedEvent } from './event/event-store.ts'
export type { Events, PublishOptions } from './event/events.ts'
export { runCanceled, runCompleted, runEnding, runFailed } from './event/run-events.ts'
export type { JobContext, TransactionClient } from './job/context.ts'
export type { Enqueued } from './job/enqueue.ts'
export type { Explanation } from './job/explanation.ts'
export type { JobLine, JobLogPage } from './job/job-log.ts'
export type { Attempt, Job } from './job/job-store.ts'
export { type AnyKind, defineKind, type Kind, type KindDefinition } from './job/kind.ts'
export { type JobState, moves } from './job/lifecycle.ts'
export { cancel, type Done, done, fail, type Outcome, retry, snooze } from './job/outcome.ts'
export type { DedupeMode, JobOptions, JobRequest } from './job/request.ts'
export { delays, exponential, once, type RetryPolicy } from './job/retry.ts'
export type { CancelAnswer, Pause, PauseTarget, RetryAnswer } from './job/steer.ts'
export type { BudgetReport } from './lane/budget-report.ts'
export type { Lane, Lanes } from './lane/lanes.ts'
export type { LaneLimits } from './lane/limits.ts'
export type { Owner, Owners } from './lane/owners.ts'
export type { EngineOptions, PoolSize } from './options.ts'
export type { Executor, QueryClient } from './postgres/client.ts'
export { type Migrated, type MigrationSet, migrate } from './postgres/migrate.ts'
export { defineRun, type RunDefinition, type RunKind, type RunRequest, type RunSummary } from './run/run-kind.ts'
export type { Run, RunState, Runs } from './run/runs.ts'
export type { CatchUp, Overlap } from './schedule/plan.ts'
export { defineSchedule, type Schedule, type ScheduleDefinition } from './schedule/schedule.ts'
export type { StoredSchedule } from './schedule/schedule-store.ts'
export type { Schedules, ShownSchedule } from './schedule/schedules.ts'
export type { EngineStatus } from './status.ts'
export type { Clock, Timer } from './support/clock.ts'
export type { Duration } from './support/duration.ts'
export { type ErrorCode, errorTable, type Scrub, SluiceError, type StoredError } from './support/errors.ts'
export type { EndedOutcome, Fact, Observer } from './support/fact.ts'
export type { FailPoint, Probe } from './support/fail-point.ts'
export { type Log, silentLog, standardErrorLog } from './support/log.ts'
