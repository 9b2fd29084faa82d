/**
 * Watches a collection until its end.
 */
import type { Progress, User } from '@sluice/collector'
import { follow } from '../session/follow.ts'
import type { Session } from '../session/session.ts'
import { plain } from '../terminal/text.ts'
import { describeProgress, describeQuota, describeWaits, doneOf } from './describe.ts'
import type { Collecting } from './open-collecting.ts'
import { refused } from './refused.ts'
import { openShower, type Telling } from './shower.ts'

const topics = ['runs', 'jobs', 'lanes'] as const
const beatMs = 1_000
const restMs = 150

/** How it ended; nothing when the person at the terminal has had enough. */
export async function watchCollection(
  session: Session,
  { engine, collector }: Collecting,
  user: User,
  isOurs: (progress: Progress) => boolean,
): Promise<Progress | undefined> {
  const shower = openShower(session, tellingOf(user))
  session.onEnd(() => shower.end())
  for await (const _ of follow(engine, { topics, beatMs, restMs, signal: session.interrupted })) {
    const progress = await collector.progress(user.id)
    if (!progress || !isOurs(progress)) continue
    shower.show(progress)
    if (progress.run.finishedAt !== null) {
      shower.end()
      return progress
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

function tellingOf({ login }: User): Telling<Progress> {
  return {
    draw: (progress, nowMs, terminal) => describeProgress(login, progress, nowMs, terminal),
    say(progress, nowMs) {
      const waits = describeWaits(progress, nowMs).join('; ')
      const quota = waits === '' ? describeQuota(progress.quota, nowMs).join('; ') : `waits: ${waits}`
      const sentence = `${plain(progress.run.state)}: ${doneOf(progress)}; ${quota}`
      return { sentence, waits, isOver: progress.run.finishedAt !== null }
    },
    document(progress) {
      const { expectedEnd: _, ...steady } = progress
      return { whole: progress, steady }
    },
  }
}
