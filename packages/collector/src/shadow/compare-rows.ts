/** Rows of two collections side by side, in the database: which of them only one has, and which fields differ in those that both have. */
import type { Executor } from '@sluice/engine'
import sql, { join, raw, type Sql } from 'sql-template-tag'

export interface ComparedNoun {
  readonly noun: string
  readonly table: string
  readonly key: readonly string[]
  readonly fields: readonly string[]
  /** Rows that count. */
  readonly where: string
}

/** What both strategies claim to know. Where a row was last seen, and by whom, is nobody's business. */
export const comparedNouns: readonly ComparedNoun[] = [
  {
    noun: 'repositories',
    table: 'repository',
    key: ['id'],
    fields: ['owner_id', 'name', 'fork', 'private', 'archived', 'stars', 'language', 'updated_at', 'pushed_at', 'state'],
    where: `state not in ('deleted', 'left')`,
  },
  {
    noun: 'commits',
    table: 'commit',
    key: ['repository_id', 'sha'],
    fields: ['author_id', 'authored_at', 'committed_at', 'additions', 'deletions', 'changed_files', 'headline'],
    where: 'gone_at is null',
  },
  {
    noun: 'issues',
    table: 'issue',
    key: ['repository_id', 'number'],
    fields: ['title', 'state', 'author_id', 'created_at', 'updated_at', 'closed_at', 'closed_by_id'],
    where: 'not is_pull_request',
  },
  {
    noun: 'pull requests',
    table: 'pull_request',
    key: ['repository_id', 'number'],
    fields: [
      'title',
      'state',
      'author_id',
      'created_at',
      'updated_at',
      'closed_at',
      'merged_at',
      'merged_by_id',
      'base_owner_id',
      'base_stars',
      'head_owner_id',
      'additions',
      'deletions',
      'changed_files',
    ],
    where: 'true',
  },
  { noun: 'events', table: 'event', key: ['id'], fields: ['type', 'repository_id', 'created_at'], where: 'true' },
]

export interface ComparedRows {
  readonly rows: readonly [number, number]
  readonly only: readonly [OneSided, OneSided]
  readonly unlike: OneSided & { readonly fields: readonly { readonly field: string; readonly count: number }[] }
}

interface OneSided {
  readonly count: number
  readonly examples: readonly string[]
}

const examplesMax = 5

interface Row {
  readonly rows: [number, number]
  readonly counts: [number, number, number]
  readonly examples: [string[] | null, string[] | null, string[] | null]
  readonly fields: number[]
}

export async function compareRows(on: Executor, noun: ComparedNoun, first: number, second: number): Promise<ComparedRows> {
  const { table, key, fields, where } = noun
  const names = (list: readonly string[], prefix = '') => raw(list.map((name) => `${prefix}${name}`).join(', '))
  const side = (collection: number) => sql`
    select ${names([...key, ...fields])}, true as here from collector.${raw(table)} where collection_id = ${collection} and ${raw(where)}`
  const both = sql`a.here and b.here`
  const differs = (field: string) => sql`${both} and a.${raw(field)} is distinct from b.${raw(field)}`
  const unlike = sql`${both} and (${names(fields, 'a.')}) is distinct from (${names(fields, 'b.')})`
  const cases = [sql`b.here is null`, sql`a.here is null`, unlike]
  const count = (when: Sql) => sql`count(*) filter (where ${when})::integer`
  const text = sql`concat_ws('/', ${names(key)})`
  const some = (when: Sql) =>
    sql`to_jsonb((array_agg(${text} order by ${names(key)}) filter (where ${when}))[1:${raw(String(examplesMax))}])`
  const { rows } = await on.query<Row>(sql`
    with a as (${side(first)}), b as (${side(second)})
    select array[${count(sql`a.here`)}, ${count(sql`b.here`)}] as rows,
           array[${join(cases.map(count))}] as counts,
           jsonb_build_array(${join(cases.map(some))}) as examples,
           array[${join(fields.map((field) => count(differs(field))))}] as fields
    from a full join b using (${names(key)})`)
  const found = rows[0] as Row
  const of = (at: 0 | 1 | 2): OneSided => ({ count: found.counts[at], examples: found.examples[at] ?? [] })
  const unequal = fields.map((field, at) => ({ field, count: found.fields[at] ?? 0 })).filter((one) => one.count > 0)
  return { rows: found.rows, only: [of(0), of(1)], unlike: { ...of(2), fields: unequal } }
}
