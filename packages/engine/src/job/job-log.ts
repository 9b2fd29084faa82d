/**
 * The log of a job: lines that its handlers wrote with `context.log`, as the database keeps them.
 */
import sql from 'sql-template-tag'
import { z } from 'zod'
import type { Executor } from '../postgres/client.ts'
import type { Database, Statement } from '../postgres/database.ts'
import { checkFields } from '../support/issue.ts'
import { withDays } from './missing-day.ts'

export interface JobLine {
  /** Where to go on reading: give it as `after`. */
  readonly id: number
  readonly attempt: number
  /** Counts within the attempt, from 1. */
  readonly line: number
  readonly at: Date
  /** `warn` for what the engine itself has to say, such as how many lines were dropped. */
  readonly level: 'info' | 'warn'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>> | null
}

export interface JobLogPage {
  /** The id of the last line that is known. Default: from the beginning. */
  readonly after?: number | undefined
  /** 1 … 1000. Default 200. */
  readonly limit?: number | undefined
}

/** A line on its way to the database; its parts are storable. */
export interface NewLine {
  readonly job: number
  readonly attempt: number
  readonly line: number
  readonly level: JobLine['level']
  readonly message: string
  /** JSON text of an object. */
  readonly fields: string | undefined
  /** When it was written, by the monotonic clock. */
  readonly atMs: number
}

const pageSchema = z.strictObject({
  after: z.int().min(0).optional(),
  limit: z.int().min(1).max(1_000).optional(),
})

export async function listJobLog(on: Executor, job: number, page: JobLogPage = {}): Promise<JobLine[]> {
  checkFields(pageSchema, page, 'page')
  const { rows } = await on.query<JobLine>(sql`
    select id, attempt, line, at, level, message, fields
    from sluice.job_log
    where job = ${job} and id > ${page.after ?? 0}
    order by id
    limit ${page.limit ?? 200}`)
  return rows
}

// The database dates the lines by how old they are, so that a process whose clock is off writes into the right day.
const writeStatement: Statement = {
  name: 'sluice_write_log',
  text: `
    with input as materialized (
      select x.* from rows from (jsonb_to_recordset($1::jsonb) as (
        job bigint, attempt smallint, line integer, age_ms double precision, level text, message text, fields jsonb)) with ordinality as x
      order by x.ordinality)
    insert into sluice.job_log (id, job, attempt, line, at, level, message, fields)
    select nextval('sluice.job_log_id_seq'), i.job, i.attempt, i.line,
           greatest(n.at - i.age_ms * interval '1 ms', date_trunc('day', n.at, 'UTC')), i.level, i.message, i.fields
    from input i, (select sluice.now() as at) n`,
}

export async function writeLines(database: Database, lines: readonly NewLine[], nowMs: number): Promise<void> {
  const rows = lines.map(({ job, attempt, line, level, message, fields, atMs }) => {
    const rest = JSON.stringify({ job, attempt, line, age_ms: Math.max(0, nowMs - atMs), level, message })
    return fields === undefined ? rest : `${rest.slice(0, -1)},"fields":${fields}}`
  })
  await withDays(database, () => database.send(database.pool, writeStatement, [`[${rows.join(',')}]`]))
}
