/**
 * Jobs in rows: a list, a search, and dead letters in groups.
 */
import type { DeadLetterGroup, Engine } from '@sluice/engine'
import { findRun } from '../runs/steer-runs.ts'
import { json } from '../session/choices.ts'
import { filterOf, pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'
import { relative } from '../terminal/times.ts'
import { jobColumns } from './columns.ts'

export async function listJobs({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  await checkFamily(session, engine, options)
  const page = await engine.inspect.jobs(filterOf(options), pageOf(options))
  answerList(session, page, jobColumns(session.now()), 'No job fits.')
}

export async function searchJobs({ session, args: [text = ''], options }: Call): Promise<void> {
  const payload = json(text)
  const { engine } = await session.system()
  await checkFamily(session, engine, options)
  const page = await engine.inspect.search({ ...filterOf(options), payload }, pageOf(options))
  answerList(session, page, jobColumns(session.now()), 'No job fits.')
}

/** Nothing fits a run that does not exist, or little a job that is no root: that is said, or people take it for an answer. */
async function checkFamily(session: Session, engine: Engine, { run, tree }: Call['options']): Promise<void> {
  if (run !== undefined) await findRun(engine, run as number)
  const root = tree === undefined ? undefined : (await engine.find(tree as number))?.root
  if (root) session.output.say(`Job ${String(tree)} is in the tree of job ${root}: --tree ${root} shows all of it.`)
}

export async function listDead({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  const page = await engine.inspect.deadLetters(pageOf(options))
  const now = session.now()
  const columns: Column<DeadLetterGroup>[] = [
    { title: 'group', value: ({ error }) => error },
    { title: 'jobs', value: ({ count }) => count, align: 'right', paint: () => 'red' },
    { title: 'kind', value: ({ kind }) => kind, least: 10 },
    { title: 'first', value: ({ firstAt }) => relative(firstAt, now) },
    { title: 'last', value: ({ lastAt }) => relative(lastAt, now) },
    { title: 'newest', value: ({ newestJob }) => newestJob, align: 'right' },
    { title: 'error', value: ({ code, message }) => (code ? `${code}: ${message}` : message), least: 20 },
  ]
  answerList(session, page, columns, 'No job has failed for good.')
}
