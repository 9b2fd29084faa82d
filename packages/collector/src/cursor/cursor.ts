/**
 * How far a list was read, per collection, resource and subject (the repository, where it is one's).
 *
 * A walk that is under way keeps its `place`; `since`, `head` and `total` move only when it has ended. `since` never moves back: a late page of an
 * older walk cannot make the next one read everything again, and it cannot skip anything either, since the overlap is the walk's business.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql, { empty } from 'sql-template-tag'
import { inKeyOrder } from '../collection/row-order.ts'

export type Resource = 'profile' | 'events' | 'repositories' | 'commits' | 'issues' | 'pull-requests' | 'own-pull-requests'

export interface Cursor {
  readonly resource: Resource
  readonly subject: number
  /** In GitHub's time. */
  readonly since: Date | null
  readonly place: string | null
  readonly etag: string | null
  /** Fingerprint of the token that the ETag belongs to. */
  readonly etagToken: string | null
  readonly head: string | null
  readonly total: number | null
  readonly run: number | null
  readonly movedAt: Date
}

/** What is left out stays as it is; null clears. */
export interface Move {
  readonly resource: Resource
  /** Default 0: the list is the user's own. */
  readonly subject?: number
  readonly since?: string | Date
  readonly place?: string | null
  readonly head?: string | null
  readonly total?: number | null
}

const columns = sql`
  resource, subject, since, place, etag, etag_token as "etagToken", head, total, run, moved_at as "movedAt"`

const key = sql`(excluded.resource || ' ' || excluded.subject)`

export async function readCursor(on: Executor, collection: number, resource: Resource, subject = 0): Promise<Cursor | undefined> {
  return (await readCursors(on, collection, resource, [subject])).get(subject)
}

/** By subject; all of the resource's when no subjects are given. */
export async function readCursors(
  on: Executor,
  collection: number,
  resource: Resource,
  subjects?: readonly number[],
): Promise<Map<number, Cursor>> {
  const wanted = subjects ? sql`and subject = any(${[...subjects]}::bigint[])` : empty
  const { rows } = await on.query<Cursor>(sql`
    select ${columns}
    from collector.cursor
    where collection_id = ${collection} and resource = ${resource} ${wanted}`)
  return new Map(
    rows.map((row) => [
      Number(row.subject),
      { ...row, subject: Number(row.subject), run: row.run === null ? null : Number(row.run) },
    ]),
  )
}

export async function moveCursor(tx: TransactionClient, collection: number, move: Move, run: number): Promise<void> {
  await moveCursors(tx, collection, [move], run)
}

export async function moveCursors(tx: TransactionClient, collection: number, moves: readonly Move[], run: number): Promise<void> {
  const rows = inKeyOrder(moves, ({ resource, subject = 0 }) => [resource, subject])
  if (rows.length === 0) return
  const given = <T>(of: (move: Move) => T): T[] => rows.map(of)
  await onClient(tx).query(sql`
    insert into collector.cursor as c (collection_id, resource, subject, since, place, head, total, run)
    select ${collection}, m.resource, m.subject, m.since, m.place, m.head, m.total, ${run}
    from unnest(
      ${given(({ resource }) => resource)}::text[], ${given(({ subject = 0 }) => subject)}::bigint[],
      ${given(({ since }) => since ?? null)}::timestamptz[], ${given(({ place }) => place ?? null)}::text[],
      ${given(({ head }) => head ?? null)}::text[], ${given(({ total }) => total ?? null)}::integer[]
    ) as m (resource, subject, since, place, head, total)
    on conflict (collection_id, resource, subject) do update
    set since = greatest(c.since, excluded.since),
        place = case when ${key} = any(${keysWith(rows, 'place')}::text[]) then excluded.place else c.place end,
        head = case when ${key} = any(${keysWith(rows, 'head')}::text[]) then excluded.head else c.head end,
        total = case when ${key} = any(${keysWith(rows, 'total')}::text[]) then excluded.total else c.total end,
        run = excluded.run,
        moved_at = sluice.now()`)
}

/** An ETag is good for one token only. */
export async function keepEtag(
  tx: TransactionClient,
  collection: number,
  { resource, subject = 0 }: Pick<Move, 'resource' | 'subject'>,
  etag: { readonly etag: string; readonly token: string } | null,
  run: number,
): Promise<void> {
  await onClient(tx).query(sql`
    insert into collector.cursor (collection_id, resource, subject, etag, etag_token, run)
    values (${collection}, ${resource}, ${subject}, ${etag?.etag ?? null}, ${etag?.token ?? null}, ${run})
    on conflict (collection_id, resource, subject) do update
    set etag = excluded.etag, etag_token = excluded.etag_token, run = excluded.run, moved_at = sluice.now()`)
}

/** Those of all collections of the user: another token gets other ones. */
export async function dropEtags(tx: TransactionClient, userId: number): Promise<void> {
  await onClient(tx).query(sql`
    update collector.cursor
    set etag = null, etag_token = null
    where etag is not null and collection_id in (select id from collector.collection where user_id = ${userId})`)
}

/** What a move leaves out and what it clears are both null in the statement, so it is told which ones are given. */
function keysWith(rows: readonly Move[], field: 'place' | 'head' | 'total'): string[] {
  return rows.filter((move) => move[field] !== undefined).map(({ resource, subject = 0 }) => `${resource} ${subject}`)
}
