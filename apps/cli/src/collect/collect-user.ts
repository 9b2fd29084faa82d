/**
 * Collects a user: registers whoever is unknown, requests a collection or follows the one under way, shows how far it is, and leaves with how it ended.
 */
import { type Collector, checkLogin, type Progress, type User } from '@sluice/collector'
import { codeOf, exit } from '../session/exit.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { plain } from '../terminal/text.ts'
import { span } from '../terminal/times.ts'
import { readToken } from '../users/read-token.ts'
import { count, doneOf, many } from './describe.ts'
import { type Collecting, openCollecting } from './open-collecting.ts'
import { refused } from './refused.ts'
import { watchCollection } from './watch-collection.ts'

export async function collectUser({ session, args: [login = ''], options }: Call): Promise<number> {
  session.stopsInOrder = true
  const tokenFile = options['tokenFile'] as string | undefined
  let given: Promise<string> | undefined
  const token = (): Promise<string> => (given ??= readToken(session, tokenFile)) // standard input can be read once
  // Where nobody can be registered yet, what is wrong is told before a database is made for nothing.
  const collecting = await openCollecting(session, async () => {
    checkLogin(login)
    await token()
  })
  const { collector, alone } = collecting
  const isGiven = tokenFile !== undefined || !!session.process.env['GITHUB_TOKEN']
  const { user, isNew } = await findOrRegister(session, collector, login, { token, isGiven })
  // Asked before anything is requested: a run may have ended by the time we look again. Whoever is new has had none.
  const before = isNew ? undefined : (await collector.progress(user.id))?.run.id
  const joined = isNew ? undefined : await request(session, collector, user)
  if (options['wait'] === false) return leave(session, user, alone)
  const ended = await watchCollection(session, collecting, user, ({ run }) => run.id === joined || run.id !== before)
  if (!ended) return interrupted(session, user, collecting)
  // As it is now: the profile that was read may have another name, and the newest run is this one.
  await tellEnd(session, collector, (await collector.users.find(user.id)) ?? user, ended)
  return ended.run.state === 'completed' && ended.jobs.failed === 0 ? exit.ok : exit.failure
}

/** Whoever is new is requested together with their registration. */
async function findOrRegister(
  session: Session,
  collector: Collector,
  login: string,
  { token, isGiven }: { token: () => Promise<string>; isGiven: boolean },
): Promise<{ user: User; isNew: boolean }> {
  const known = await collector.users.find(login)
  if (!known) {
    const user = await collector.users.register({ login: checkLogin(login), token: await token() })
    session.output.say(`${plain(user.login)} is registered.`)
    return { user, isNew: true }
  }
  if (known.tokenState === 'ok') return { user: known, isNew: false }
  if (!isGiven) throw refused(known)
  const user = await collector.users.rotateToken(known.id, await token())
  session.output.say(`${plain(user.login)} has a new token.`)
  return { user, isNew: false }
}

/** The run that is under way already, if there is one. */
async function request(session: Session, collector: Collector, user: User): Promise<number | undefined> {
  try {
    await collector.request(user.id, { trigger: 'manual' })
    return undefined
  } catch (error) {
    if (codeOf(error) !== 'COLLECTION_ACTIVE') throw error
    const run = Number((error as { details?: { run?: number } }).details?.run)
    session.output.say(`A collection of ${plain(user.login)} is under way already${run ? `, run ${run}` : ''}.`)
    return run || undefined
  }
}

function leave({ output }: Session, { id, login }: User, alone: boolean): number {
  output.answer({ user: id, login, requested: true }, () => `A collection of ${plain(login)} is requested.`)
  if (alone)
    output.warn('No worker runs on this database. It begins when one does: `sluice up`, or this command without --no-wait.')
  return exit.ok
}

function interrupted({ output }: Session, { login }: User, { alone }: Collecting): number {
  const shown = plain(login)
  output.say(
    alone
      ? `Stopped. What was stored stays; \`sluice collect ${shown}\` goes on where it was.`
      : `The collection of ${shown} goes on without you. \`sluice users show ${shown}\` tells how far it is.`,
  )
  return exit.interrupted
}

async function tellEnd({ output }: Session, collector: Collector, user: User, ended: Progress): Promise<void> {
  const statistics = ended.run.state === 'completed' ? await collector.statistics.user(user.id) : undefined
  const { run } = ended
  const document = { type: 'end', user, ...ended, statistics: statistics ?? null }
  if (output.json) return output.line(JSON.stringify(document))
  const took = run.finishedAt ? ` in ${span(run.finishedAt.getTime() - run.createdAt.getTime())}` : ''
  output.line(`Run ${run.id} ${run.state}${took}: ${doneOf(ended)}.${run.error ? ` ${plain(run.error.message)}` : ''}`)
  if (!statistics) return
  const { score, activity, impact, commits, additions, deletions, issuesSolved, pullRequests } = statistics
  output.line(
    `${output.terminal.paint('bold', plain(user.login))} scores ${output.terminal.paint('bold', score.toFixed(1))} (activity ${activity.toFixed(1)}, impact ${impact.toFixed(1)}): ` +
      `${many(commits, 'commit')}, +${count(additions)} −${count(deletions)} lines, ${many(issuesSolved, 'issue')} solved, ${many(pullRequests, 'pull request')} merged elsewhere.`,
  )
}
