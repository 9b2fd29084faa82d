/**
 * Statistics as rows: one a user and run, the newest of each marked, and one of the whole a run.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql, { type Sql } from 'sql-template-tag'
import type { CountedDeeds } from './deeds.ts'
import type { Scores } from './score.ts'

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

const columns = sql`
  s.user_id::double precision as "userId", u.login, s.run::double precision as run, s.formula, s.computed_at as "computedAt",
  s.repositories::double precision as repositories, s.commits::double precision as commits, s.additions::double precision as additions,
  s.deletions::double precision as deletions, s.counted_lines::double precision as "countedLines", s.active_days as "activeDays",
  s.longest_streak as "longestStreak", s.current_streak as "currentStreak", s.issues_solved::double precision as "issuesSolved",
  s.pull_requests::double precision as "pullRequests", s.pull_request_weight as "pullRequestWeight", s.activity, s.impact, s.score`

const globalColumns = sql`
  run::double precision as run, computed_at as "computedAt", formula, users::double precision as users, repositories::double precision as repositories,
  commits::double precision as commits, additions::double precision as additions, deletions::double precision as deletions,
  issues_solved::double precision as "issuesSolved", pull_requests::double precision as "pullRequests", mean_score as "meanScore", median_score as "medianScore"`

export async function selectUserStatistics(on: Executor, rest: Sql): Promise<UserStatistics[]> {
  const { rows } = await on.query<UserStatistics>(sql`
    select ${columns} from collector.user_statistics s join collector.users u on u.id = s.user_id ${rest}`)
  return rows
}

export async function selectGlobalStatistics(on: Executor, rest: Sql): Promise<GlobalStatistics[]> {
  const { rows } = await on.query<GlobalStatistics>(sql`select ${globalColumns} from collector.global_statistics ${rest}`)
  return rows
}

/** The newest ones of the user; a second time for the same run they replace the first. */
export async function storeUserStatistics(
  tx: TransactionClient,
  { userId, run, formula }: { userId: number; run: number; formula: number },
  deeds: CountedDeeds,
  scores: Scores,
): Promise<void> {
  const on = onClient(tx)
  // Two runs of a user that end together would both be the newest.
  await on.query(sql`select from collector.users where id = ${userId} for no key update`)
  await on.query(sql`
    update collector.user_statistics set newest = false where user_id = ${userId} and newest and run <> ${run}`)
  await on.query(sql`
    insert into collector.user_statistics (
      user_id, run, formula, newest, repositories, commits, additions, deletions, counted_lines, active_days, longest_streak, current_streak,
      issues_solved, pull_requests, pull_request_weight, activity, impact, score)
    values (
      ${userId}, ${run}, ${formula}, true, ${deeds.repositories}, ${deeds.commits}, ${deeds.additions}, ${deeds.deletions}, ${deeds.countedLines},
      ${deeds.activeDays}, ${deeds.longestStreak}, ${deeds.currentStreak}, ${deeds.issuesSolved}, ${deeds.pullRequests},
      ${scores.pullRequestWeight}, ${scores.activity}, ${scores.impact}, ${scores.score})
    on conflict (user_id, run) do update
    set formula = excluded.formula, computed_at = sluice.now(), newest = true, repositories = excluded.repositories, commits = excluded.commits,
        additions = excluded.additions, deletions = excluded.deletions, counted_lines = excluded.counted_lines, active_days = excluded.active_days,
        longest_streak = excluded.longest_streak, current_streak = excluded.current_streak, issues_solved = excluded.issues_solved,
        pull_requests = excluded.pull_requests, pull_request_weight = excluded.pull_request_weight, activity = excluded.activity,
        impact = excluded.impact, score = excluded.score`)
}

/** From everybody's newest statistics, so that it costs a row a user and not a row a commit. */
export async function storeGlobalStatistics(tx: TransactionClient, run: number, formula: number): Promise<void> {
  await onClient(tx).query(sql`
    insert into collector.global_statistics (
      run, formula, users, repositories, commits, additions, deletions, issues_solved, pull_requests, mean_score, median_score)
    select ${run}, ${formula}, count(*), coalesce(sum(repositories), 0), coalesce(sum(commits), 0), coalesce(sum(additions), 0), coalesce(sum(deletions), 0),
           coalesce(sum(issues_solved), 0), coalesce(sum(pull_requests), 0), coalesce(avg(score), 0),
           coalesce(percentile_cont(0.5) within group (order by score), 0)
    from collector.user_statistics
    where newest
    on conflict (run) do update
    set formula = excluded.formula, computed_at = sluice.now(), users = excluded.users, repositories = excluded.repositories, commits = excluded.commits,
        additions = excluded.additions, deletions = excluded.deletions, issues_solved = excluded.issues_solved, pull_requests = excluded.pull_requests,
        mean_score = excluded.mean_score, median_score = excluded.median_score`)
}
