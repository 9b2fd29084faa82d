/**
 * Scores to look at: all users by rank, or one with what its score is made of and how it came about.
 */
import type { Standing, UserStatistics } from '@sluice/collector'
import { count, many } from '../collect/describe.ts'
import { CommandError, exit } from '../session/exit.ts'
import { pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import { type Column, renderFields, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { exact, relative } from '../terminal/times.ts'
import { findUser } from '../users/find-user.ts'

type By = 'score' | 'activity' | 'impact'

export async function showScores(call: Call): Promise<void> {
  await (call.args[0] === undefined ? showLeaderboard(call) : showOne(call, call.args[0]))
}

const figures: Column<UserStatistics>[] = [
  { title: 'score', value: ({ score }) => score.toFixed(1), align: 'right', paint: () => 'bold' },
  { title: 'activity', value: ({ activity }) => activity.toFixed(1), align: 'right' },
  { title: 'impact', value: ({ impact }) => impact.toFixed(1), align: 'right' },
  { title: 'commits', value: ({ commits }) => count(commits), align: 'right' },
  { title: 'lines', value: (one) => linesOf(one), align: 'right', spare: true },
  { title: 'streak', value: ({ longestStreak }) => longestStreak, align: 'right', spare: true },
  { title: 'issues', value: ({ issuesSolved }) => count(issuesSolved), align: 'right' },
  { title: 'pulls', value: ({ pullRequests }) => count(pullRequests), align: 'right' },
]

async function showLeaderboard({ session, options }: Call): Promise<void> {
  const { collector } = await session.system({ collects: true })
  const by = (options['by'] as By | undefined) ?? 'score'
  const page = await collector.statistics.leaderboard({ by, page: pageOf(options) })
  const columns: Column<Standing>[] = [
    { title: '#', value: ({ rank }) => rank, align: 'right' },
    { title: 'login', value: ({ login }) => login, least: 8 },
    ...figures,
  ]
  answerList(session, page, columns, 'Nobody has a score yet: `sluice collect LOGIN` makes one.')
}

async function showOne({ session, options }: Call, login: string): Promise<void> {
  const { collector } = await session.system({ collects: true })
  const user = await findUser(collector, login)
  const newest = await collector.statistics.user(user.id)
  if (!newest)
    throw new CommandError(
      exit.notFound,
      'NO_SCORE',
      `${plain(user.login)} has no score yet: no collection of it was completed. \`sluice collect ${plain(user.login)}\` does it.`,
    )
  const history = await collector.statistics.history(user.id, pageOf(options))
  const now = session.now()
  session.output.answer({ user, ...newest, history: history.items, next: history.next ?? null }, (terminal) =>
    [describe(user.login, newest, now, terminal), renderHistory(history.items, now, terminal)].join('\n\n'),
  )
  if (history.next && !session.output.json) session.output.say(`More: --cursor ${history.next}`)
}

function describe(login: string, one: UserStatistics, now: number, terminal: Terminal): string {
  return renderFields(
    [
      { title: 'user', text: plain(login), colour: 'bold' },
      { title: 'score', text: one.score.toFixed(1), colour: 'green' },
      { title: 'activity', text: `${one.activity.toFixed(1)}\n${activityOf(one)}` },
      { title: 'impact', text: `${one.impact.toFixed(1)}\n${impactOf(one)}` },
      { title: 'computed', text: `${exact(one.computedAt, now)} after run ${one.run}, formula ${one.formula}` },
    ],
    terminal,
  )
}

function activityOf(one: UserStatistics): string {
  const days = `${many(one.activeDays, 'active day')}, streaks of ${one.longestStreak} (longest) and ${one.currentStreak} (now)`
  return `${many(one.commits, 'commit')}, ${linesOf(one)} lines\n${days}`
}

function impactOf(one: UserStatistics): string {
  const pulls = `${many(one.pullRequests, 'pull request')} merged into others' repositories, weight ${one.pullRequestWeight.toFixed(1)}`
  return `${many(one.issuesSolved, 'issue')} solved\n${pulls}`
}

function renderHistory(items: readonly UserStatistics[], now: number, terminal: Terminal): string {
  const columns: Column<UserStatistics>[] = [
    { title: 'run', value: ({ run }) => run, align: 'right' },
    { title: 'when', value: ({ computedAt }) => relative(computedAt, now) },
    ...figures,
  ]
  return renderTable(columns, items, terminal)
}

function linesOf({ additions, deletions }: UserStatistics): string {
  return `+${count(additions)} −${count(deletions)}`
}
