/**
 * Jobs in rows: a list, a search, and dead letters in groups.
 */
import type { DeadLetterGroup } from '@sluice/engine'
import { json } from '../session/choices.ts'
import { filterOf, pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'
import { relative } from '../terminal/times.ts'
import { jobColumns } from './columns.ts'

export async function listJobs({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  const page = await engine.inspect.jobs(filterOf(options), pageOf(options))
  answerList(session, page, jobColumns(session.now()), 'No job fits.')
}

export async function searchJobs({ session, args: [text = ''], options }: Call): Promise<void> {
  const payload = json(text)
  const { engine } = await session.system()
  const page = await engine.inspect.search({ ...filterOf(options), payload }, pageOf(options))
  answerList(session, page, jobColumns(session.now()), 'No job fits.')
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
