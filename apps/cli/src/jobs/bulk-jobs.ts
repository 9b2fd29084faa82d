/**
 * Retry, cancel or discard all jobs that fit. Counts first and asks; then goes on page by page until nothing is left or the limit is reached.
 */
import { createInterface } from 'node:readline/promises'
import type { BulkAction, Engine, JobFilter } from '@sluice/engine'
import { CommandError, exit } from '../session/exit.ts'
import { filterOf } from '../session/filter.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { Bar } from '../terminal/bar.ts'
import { bulkActions } from './words.ts'

export async function bulkJobs({ session, args: [text = ''], options }: Call): Promise<number> {
  const action = bulkActions.find((one) => one === text)
  if (!action)
    throw new CommandError(exit.usage, 'UNKNOWN_ACTION', `There is no action "${text}". Write one of ${bulkActions.join(', ')}.`)
  const filter = filterOf(options)
  if (Object.keys(filter).length === 0 && action !== 'retry')
    throw new CommandError(
      exit.usage,
      'NO_FILTER',
      `This would ${action} every job. Say which: --kind, --state, --owner, --error …`,
    )
  const { engine } = await session.system()
  const max = options['max'] as number | undefined
  const wishes = max === undefined ? {} : { max }
  const { matched, more } = await engine.inspect.bulk(action, filter, { ...wishes, dryRun: true })
  const count = `${matched}${more ? ' or more' : ''} ${matched === 1 ? 'job' : 'jobs'}`
  if (options['dryRun'] === true || matched === 0) {
    session.output.answer({ action, dryRun: true, matched, more }, () =>
      matched === 0 ? 'No job fits.' : `Would ${action} ${count}.`,
    )
    return exit.ok
  }
  if (options['yes'] !== true) await ask(session, `${action} ${count}?`)
  return doAll(session, engine, { action, filter, max, matched })
}

interface Order {
  readonly action: BulkAction
  readonly filter: JobFilter
  readonly max: number | undefined
  readonly matched: number
}

async function doAll(session: Session, engine: Engine, { action, filter, max, matched }: Order): Promise<number> {
  session.stopsInOrder = true
  const bar = new Bar(session.process.stderr, session.output.side)
  session.onEnd(() => bar.end())
  let [seen, changed, more] = [0, 0, true]
  const answers: Record<string, number> = {}
  while (more && !session.interrupted.aborted && (max === undefined || seen < max)) {
    const answer = await engine.inspect.bulk(action, filter, max === undefined ? {} : { max: max - seen })
    seen += answer.matched
    changed += answer.changed
    // Where a page changes nothing, the next one would be the same.
    more = answer.more && answer.changed > 0
    for (const [name, times] of Object.entries(answer.answers)) answers[name] = (answers[name] ?? 0) + times
    await bar.show(seen, Math.max(matched, seen), `${changed} changed`)
  }
  bar.end()
  session.output.answer({ action, dryRun: false, matched: seen, changed, answers, more }, () =>
    Object.entries(answers)
      .map(([name, times]) => `${times} ${name}`)
      .join(', '),
  )
  return session.interrupted.aborted ? exit.interrupted : exit.ok
}

async function ask(session: Session, question: string): Promise<void> {
  const { stdin, stderr } = session.process
  if (!stdin.isTTY)
    throw new CommandError(
      exit.usage,
      'NOT_CONFIRMED',
      `${question} Nobody is here to answer: add --yes, or look first with --dry-run.`,
    )
  const reader = createInterface({ input: stdin, output: stderr })
  const answer = await reader.question(`${question} [y/N] `, { signal: session.interrupted }).finally(() => reader.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(exit.failure, 'NOT_CONFIRMED', 'Nothing was changed.')
}
