/**
 * Retry, cancel or discard all jobs that fit. Counts first and asks; then goes on page by page until nothing is left or the limit is reached.
 */
import type { BulkAction, BulkAnswer, Engine, JobFilter } from '@sluice/engine'
import { ask } from '../session/ask.ts'
import { CommandError, exit } from '../session/exit.ts'
import { filterOf } from '../session/filter.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { Bar } from '../terminal/bar.ts'
import { bulkActions } from './words.ts'

/** Jobs a call: so that a bar moves and Ctrl-C is heard. */
const stepJobs = 500
const countedMax = 100_000

export async function bulkJobs({ session, args: [text = ''], options }: Call): Promise<number> {
  const action = bulkActions.find((one) => one === text)
  if (!action)
    throw new CommandError(exit.usage, 'UNKNOWN_ACTION', `There is no action "${text}". Write one of ${bulkActions.join(', ')}.`)
  const given = filterOf(options)
  if (Object.keys(given).length === 0 && action !== 'retry')
    throw new CommandError(exit.usage, 'NO_FILTER', `This would ${action} everything. Say which jobs: --kind, --owner, --error …`)
  const filter = Object.keys(given).length === 0 ? { state: 'failed' as const } : given
  const { engine } = await session.system()
  const max = (options['max'] as number | undefined) ?? Number.POSITIVE_INFINITY
  const { matched, more } = await engine.inspect.bulk(action, filter, { max: Math.min(max, countedMax), dryRun: true })
  const isOpen = more && matched < max
  const count = `${matched}${isOpen ? ' or more' : ''} ${matched === 1 ? 'job' : 'jobs'}`
  if (options['dryRun'] === true || matched === 0) {
    session.output.answer({ action, dryRun: true, matched, more: isOpen }, () =>
      matched === 0 ? 'No job fits.' : `Would ${action} ${count}.`,
    )
    return exit.ok
  }
  if (options['yes'] !== true) await ask(session, `${action} ${count}?`, 'add --yes, or look first with --dry-run')
  return doAll(session, engine, { action, filter, max, matched, reason: options['reason'] as string | undefined })
}

interface Order {
  readonly action: BulkAction
  readonly filter: JobFilter
  readonly max: number
  readonly matched: number
  readonly reason: string | undefined
}

async function doAll(session: Session, engine: Engine, { action, filter, max, matched, reason }: Order): Promise<number> {
  session.stopsInOrder = true
  const bar = new Bar(session.process.stderr, session.output.side)
  session.onEnd(() => bar.end())
  const answers: Record<string, number> = {}
  let [seen, changed, cursor]: [number, number, string | undefined] = [0, 0, undefined]
  do {
    const step: BulkAnswer = await engine.inspect.bulk(action, filter, { max: Math.min(stepJobs, max - seen), cursor, reason })
    seen += step.matched
    changed += step.changed
    cursor = step.next
    for (const [name, times] of Object.entries(step.answers)) answers[name] = (answers[name] ?? 0) + times
    await bar.show(seen, Math.max(matched, seen), `${changed} changed`)
  } while (cursor !== undefined && seen < max && !session.interrupted.aborted)
  bar.end()
  const more = cursor !== undefined
  session.output.answer({ action, dryRun: false, matched: seen, changed, answers, more }, () => describeAnswers(answers))
  if (!session.interrupted.aborted) return exit.ok
  session.output.say('Interrupted. What was changed stays changed; the same command goes on.')
  return exit.interrupted
}

function describeAnswers(answers: Readonly<Record<string, number>>): string {
  return Object.entries(answers)
    .map(([name, times]) => `${times} ${name}`)
    .join(', ')
}
