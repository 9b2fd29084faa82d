/**
 * Watches a collection until its end: bars on a terminal, a line now and then elsewhere, a JSON document for each change with `--json`.
 */
import type { Progress, User } from '@sluice/collector'
import { follow } from '../session/follow.ts'
import type { Session } from '../session/session.ts'
import { LiveLines } from '../terminal/live-lines.ts'
import { describeTerminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { describeProgress, describeQuota, describeWaits, doneOf } from './describe.ts'
import type { Collecting } from './open-collecting.ts'
import { refused } from './refused.ts'

const topics = ['runs', 'jobs', 'lanes'] as const
const beatMs = 1_000
const restMs = 150
const lineEveryMs = 10_000
const waitLineEveryMs = 60_000

/** How it ended; nothing when the person at the terminal has had enough. */
export async function watchCollection(
  session: Session,
  { engine, collector }: Collecting,
  user: User,
  isOurs: (progress: Progress) => boolean,
): Promise<Progress | undefined> {
  const show = shower(session, user)
  session.onEnd(() => show.end())
  for await (const _ of follow(engine, { topics, beatMs, restMs, signal: session.interrupted })) {
    const progress = await collector.progress(user.id)
    if (!progress || !isOurs(progress)) continue
    show.progress(progress)
    if (progress.run.finishedAt !== null) {
      show.end()
      return progress
    }
    const now = await collector.users.find(user.id)
    if (now?.tokenState === 'refused') {
      show.end()
      throw refused(now)
    }
  }
  show.end()
  return undefined
}

interface Shower {
  progress(progress: Progress): void
  end(): void
}

function shower({ output, process, now }: Session, user: User): Shower {
  if (output.json) return jsonLines((line) => output.line(line))
  if (!output.side.live) return spokenLines((line) => output.say(line), now)
  const lines = new LiveLines(process.stderr)
  return {
    progress: (progress) =>
      lines.show(describeProgress(user.login, progress, now(), describeTerminal(process.stderr, process.env))),
    end: () => lines.end(),
  }
}

function jsonLines(write: (line: string) => void): Shower {
  let last = ''
  return {
    progress(progress) {
      const { expectedEnd: _, ...steady } = progress
      const state = JSON.stringify(steady)
      if (state !== last) write(JSON.stringify({ type: 'progress', ...progress }))
      last = state
    },
    end() {},
  }
}

/** Where nobody looks at it while it changes: now and then, and at once when it begins to wait or goes on. */
function spokenLines(say: (line: string) => void, now: () => number): Shower {
  let nextMs = 0
  let lastWaits = ''
  return {
    progress(progress) {
      const waits = describeWaits(progress, now()).join('; ')
      const isNews = progress.run.finishedAt !== null || waits !== lastWaits
      if (now() < nextMs && !isNews) return
      nextMs = now() + (waits === '' ? lineEveryMs : waitLineEveryMs)
      lastWaits = waits
      const quota = waits === '' ? describeQuota(progress.quota, now()).join('; ') : `waits: ${waits}`
      say(`${plain(progress.run.state)}: ${doneOf(progress)}; ${quota}`)
    },
    end() {},
  }
}
