/**
 * Compares two strategies for a user: starts it or follows the one under way, and shows the report.
 */
import type { Collector, Shadow, ShadowReport, Strategy, User } from '@sluice/collector'
import { type Collecting, openCollecting } from '../collect/open-collecting.ts'
import { CommandError, codeOf, exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { plain } from '../terminal/text.ts'
import { findUser } from '../users/find-user.ts'
import { describeReport } from './describe.ts'

const topics = ['runs', 'jobs'] as const
const beatMs = 1_000
const restMs = 150

export async function compareStrategies({ session, args: [login = ''], options }: Call): Promise<number> {
  if (options['last'] === true) return showLast(session, login)
  session.stopsInOrder = true
  const collecting = await openCollecting(session)
  const { collector } = collecting
  const user = await findUser(collector, login)
  const strategies = options['strategies'] as Strategy[] | undefined
  const started = await start(session, collector, user, { keep: options['keep'] === true, ...(strategies ? { strategies } : {}) })
  if (options['wait'] === false) {
    const runs = started.sides.map(({ run }) => run).join(' and ')
    session.output.answer(
      started,
      () => `${plain(user.login)} is compared by runs ${runs}. \`sluice shadow ${plain(user.login)} --last\` shows the report.`,
    )
    return exit.ok
  }
  const ended = await watch(session, collecting, user, started.id)
  if (!ended) return interrupted(session, user)
  tell(session, user, ended)
  return ended.report.sides.every(({ state }) => state === 'completed') ? exit.ok : exit.failure
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
  for await (const _ of follow(engine, { topics, beatMs, restMs, signal: session.interrupted })) {
    const found = await collector.shadows.newest(user.id)
    if (found && found.id >= id && found.report) return { ...found, report: found.report }
  }
  return undefined
}

function interrupted({ output }: Session, { login }: User): number {
  output.say(
    `Stopped watching. \`sluice shadow ${plain(login)}\` follows it again, \`--last\` shows the report when it is there.`,
  )
  return exit.interrupted
}

function tell({ output, now }: Session, user: User, shadow: Shadow): void {
  output.answer({ user: { id: user.id, login: user.login }, ...shadow }, (terminal) =>
    describeReport(user.login, shadow, now(), terminal),
  )
}
