/**
 * Compares two strategies for a user: starts it or follows the one under way, and shows the report.
 */
import type { Collector, Shadow, ShadowOutlook, ShadowProgress, ShadowReport, Strategy, User } from '@sluice/collector'
import { type Collecting, openCollecting } from '../collect/open-collecting.ts'
import { refused } from '../collect/refused.ts'
import { openShower, type Telling } from '../collect/shower.ts'
import { CommandError, codeOf, exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { plain } from '../terminal/text.ts'
import { findUser } from '../users/find-user.ts'
import { describeReport } from './describe.ts'
import { describeOutlook, type ToldOutlook } from './describe-outlook.ts'
import { describeShadowProgress, describeShadowWaits, sayShadowProgress } from './describe-progress.ts'

const topics = ['runs', 'jobs', 'lanes'] as const
const beatMs = 1_000
const restMs = 150

export async function compareStrategies({ session, args: [login = ''], options }: Call): Promise<number> {
  const strategies = options['strategies'] as Strategy[] | undefined
  if (options['last'] === true) return showLast(session, login)
  if (options['dryRun'] === true) return showCost(session, login, strategies)
  session.stopsInOrder = true
  const collecting = await openCollecting(session)
  const { collector } = collecting
  const user = await findUser(collector, login)
  const outlook = await collector.shadows.estimate(user.id, strategies)
  const started = await start(session, collector, user, { keep: options['keep'] === true, ...(strategies ? { strategies } : {}) })
  if (options['wait'] === false) {
    const runs = started.sides.map(({ run }) => run).join(' and ')
    tellOutlook(session, user, outlook)
    session.output.answer(
      { ...started, outlook: outlook ?? null },
      () => `${plain(user.login)} is compared by runs ${runs}. \`sluice shadow ${plain(user.login)} --last\` shows the report.`,
    )
    return exit.ok
  }
  if (session.output.json) session.output.line(JSON.stringify({ type: 'outlook', outlook: outlook ?? null }))
  else tellOutlook(session, user, outlook)
  const ended = await watch(session, collecting, user, started.id)
  if (!ended) return interrupted(session, user, collecting)
  if (session.output.json)
    session.output.line(JSON.stringify({ type: 'end', user: { id: user.id, login: user.login }, ...ended }))
  else tell(session, user, ended)
  return ended.report.sides.every(({ state }) => state === 'completed') ? exit.ok : exit.failure
}

/** Starts nothing. */
async function showCost(session: Session, login: string, strategies: Strategy[] | undefined): Promise<number> {
  const { collector } = await session.system({ collects: true })
  const user = await findUser(collector, login)
  const outlook = await collector.shadows.estimate(user.id, strategies)
  session.output.answer({ user: { id: user.id, login: user.login }, outlook: outlook ?? null }, () => {
    const { lines, warnings } = outlookOf(session, user, outlook)
    return [...lines, ...warnings].join('\n')
  })
  return exit.ok
}

function outlookOf({ now }: Session, { login }: User, outlook: ShadowOutlook | undefined): ToldOutlook {
  if (outlook) return describeOutlook(outlook, now())
  const lines = [
    `Nothing of ${plain(login)} is stored yet, so nobody knows what it costs. By REST each commit is a call; \`sluice collect ${plain(login)}\` first tells how many there are.`,
  ]
  return { lines, warnings: [] }
}

function tellOutlook(session: Session, user: User, outlook: ShadowOutlook | undefined): void {
  const { output } = session
  if (output.json) return
  const { lines, warnings } = outlookOf(session, user, outlook)
  for (const line of lines) output.say(line)
  for (const warning of warnings) output.warn(warning)
}

async function showLast(session: Session, login: string): Promise<number> {
  const { collector } = await session.system({ collects: true })
  const user = await findUser(collector, login)
  const last = await collector.shadows.newest(user.id)
  if (!last)
    throw new CommandError(
      exit.notFound,
      'NO_SHADOW',
      `${plain(user.login)} was never compared. \`sluice shadow ${plain(user.login)}\` does it.`,
    )
  tell(session, user, last)
  return exit.ok
}

/** The one that is under way already, if there is one. */
async function start(
  { output }: Session,
  collector: Collector,
  user: User,
  options: { strategies?: Strategy[]; keep: boolean },
): Promise<Shadow> {
  try {
    return await collector.shadows.start(user.id, options)
  } catch (error) {
    const active = codeOf(error) === 'SHADOW_ACTIVE' ? await collector.shadows.newest(user.id) : undefined
    if (!active) throw error
    output.say(`A comparison of ${plain(user.login)} is under way already.`)
    return active
  }
}

async function watch(
  session: Session,
  { engine, collector }: Collecting,
  user: User,
  id: number,
): Promise<(Shadow & { report: ShadowReport }) | undefined> {
  session.output.say(`Comparing strategies for ${plain(user.login)}.`)
  const shower = openShower(session, tellingOf(user))
  session.onEnd(() => shower.end())
  for await (const _ of follow(engine, { topics, beatMs, restMs, signal: session.interrupted })) {
    const seen = await collector.shadows.progress(user.id)
    if (!seen || seen.shadow.id < id) continue
    shower.show(seen)
    const { report } = seen.shadow
    if (report) {
      shower.end()
      return { ...seen.shadow, report }
    }
    const now = await collector.users.find(user.id)
    if (now?.tokenState === 'refused') {
      shower.end()
      throw refused(now)
    }
  }
  shower.end()
  return undefined
}

function tellingOf({ login }: User): Telling<ShadowProgress> {
  return {
    draw: (seen, nowMs, terminal) => describeShadowProgress(login, seen, nowMs, terminal),
    say: (seen, nowMs) => ({
      sentence: sayShadowProgress(seen, nowMs),
      waits: describeShadowWaits(seen, nowMs),
      isOver: seen.shadow.report !== null,
    }),
    document: ({ sides }) => ({
      whole: { sides },
      steady: sides.map(({ strategy, progress }) => ({ strategy, ...progress, expectedEnd: null })),
    }),
  }
}

function interrupted({ output }: Session, { login }: User, { alone }: Collecting): number {
  const shown = plain(login)
  output.say(
    alone
      ? `Stopped. What was stored stays; \`sluice shadow ${shown}\` goes on where it was.`
      : `It goes on without you. \`sluice shadow ${shown}\` follows it again, \`--last\` shows the report when it is there.`,
  )
  return exit.interrupted
}

function tell({ output, now }: Session, user: User, shadow: Shadow): void {
  output.answer({ user: { id: user.id, login: user.login }, ...shadow }, (terminal) =>
    describeReport(user.login, shadow, now(), terminal),
  )
}
