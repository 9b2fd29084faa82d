/**
 * Events as the database knows them: their names, who subscribes, what was published.
 */
import sql, { empty, type Sql } from 'sql-template-tag'
import { explainElsewhere, explainRefusal } from '../job/enqueue.ts'
import type { AnyKind } from '../job/kind.ts'
import type { Executor, QueryClient } from '../postgres/client.ts'
import type { AnyEvent, EncodedEvent } from './event.ts'

export interface PublishedEvent {
  readonly id: number
  readonly type: string
  readonly payload: unknown
  readonly owner: string | null
  /** The event whose job, or a child of it, published this one. */
  readonly cause: number | null
  /** How many causes came before it. */
  readonly depth: number
  /** The job that published it. */
  readonly job: number | null
  /** The run of that job, or the one whose end this tells. */
  readonly run: number | null
  readonly publishedAt: Date
}

export interface EventPage {
  readonly type?: string
  readonly owner?: string
  /** Older than this id. */
  readonly before?: number
  readonly limit?: number
}

const events: Sql = sql`
  select id, type, payload, owner, cause, depth, job, run, published_at as "publishedAt"
  from sluice.event`

/**
 * What this process subscribes to takes the place of what its kinds subscribed to before; other kinds are left alone. Rows come in the
 * same order from every process, and those that are right are left alone.
 */
export async function registerEvents(on: Executor, defined: readonly AnyEvent[], kinds: readonly AnyKind[]): Promise<void> {
  const wanted = kinds.flatMap(({ kindName, on: heard }) => heard.map((event) => ({ event, kind: kindName })))
  const names = new Set([...defined.map(({ eventName }) => eventName), ...wanted.map(({ event }) => event)])
  if (names.size > 0)
    await on.query(sql`
      insert into sluice.event_type (name)
      select name from unnest(${[...names]}::text[]) as name
      order by name
      on conflict do nothing`)
  if (kinds.length === 0) return
  await on.query(sql`
    with wanted as (select event, kind from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as x(event text, kind text)),
    gone as (
      delete from sluice.subscription s
      where s.kind = any(${kinds.map(({ kindName }) => kindName)}::text[])
        and not exists (select from wanted w where w.event = s.event and w.kind = s.kind))
    insert into sluice.subscription (event, kind)
    select event, kind from wanted
    order by event, kind
    on conflict do nothing`)
}

/** On a client with a transaction of its own (a caller's, or that of a settle), or on a pool, where the statement is the transaction. */
export async function publishOn(client: QueryClient, requests: readonly EncodedEvent[]): Promise<number[]> {
  if (requests.length === 0) return []
  const rows = `[${requests.map(({ row }) => row).join(',')}]`
  const answer = await client.query('select sluice.publish_many($1::jsonb) as ids', [rows]).catch((error: unknown) => {
    throw explainElsewhere(explainRefusal(error, []))
  })
  const { ids } = answer.rows[0] as { ids: (number | string)[] }
  return ids.map(Number)
}

/** Newest first. */
export async function listEvents(on: Executor, { type, owner, before, limit = 100 }: EventPage): Promise<PublishedEvent[]> {
  const { rows } = await on.query<PublishedEvent>(sql`
    ${events}
    where true ${type === undefined ? empty : sql`and type = ${type}`} ${owner === undefined ? empty : sql`and owner = ${owner}`}
      ${before === undefined ? empty : sql`and id < ${before}`}
    order by id desc limit ${limit}`)
  return rows
}

export async function findEvent(on: Executor, id: number): Promise<PublishedEvent | undefined> {
  const { rows } = await on.query<PublishedEvent>(sql`${events} where id = ${id}`)
  return rows[0]
}
