/**
 * What can be exported: tables, the columns that are shown, and the key in whose order they are read. Names are those of the flat views.
 */
export const exportable = ['repositories', 'commits', 'issues', 'pull-requests', 'events', 'statistics'] as const

export type ExportWhat = (typeof exportable)[number]

export type ColumnSort = 'number' | 'text' | 'truth' | 'time' | 'json'

export interface Column {
  readonly name: string
  readonly sort: ColumnSort
  /** Where it is called otherwise in the table. */
  readonly from?: string
}

export interface Source {
  readonly table: string
  /** The column that holds whose rows they are: a collection's or a user's. */
  readonly of: 'collection_id' | 'user_id'
  /** In order; with `of`, the primary key. */
  readonly key: readonly { readonly column: string; readonly type: 'bigint' | 'text' }[]
  readonly columns: readonly Column[]
}

const ofSort = (sort: ColumnSort, names: string): Column[] => names.split(' ').map((name) => ({ name, sort }))
const id = (name: string): Column => ({ name, sort: 'number', from: 'id' })
const repository = { column: 'repository_id', type: 'bigint' } as const
const number = { column: 'number', type: 'bigint' } as const

export const sources: Readonly<Record<ExportWhat, Source>> = {
  repositories: {
    table: 'repository',
    of: 'collection_id',
    key: [{ column: 'id', type: 'bigint' }],
    columns: [
      id('repository_id'),
      ...ofSort('number', 'owner_id'),
      ...ofSort('text', 'owner_login name'),
      ...ofSort('truth', 'fork private archived'),
      ...ofSort('number', 'stars'),
      ...ofSort('text', 'language default_branch head'),
      ...ofSort('time', 'created_at updated_at pushed_at'),
      ...ofSort('text', 'state state_reason'),
      ...ofSort('time', 'state_since'),
    ],
  },
  commits: {
    table: 'commit',
    of: 'collection_id',
    key: [repository, { column: 'sha', type: 'text' }],
    columns: [
      ...ofSort('number', 'repository_id'),
      ...ofSort('text', 'sha'),
      ...ofSort('number', 'author_id'),
      ...ofSort('time', 'authored_at committed_at'),
      ...ofSort('number', 'additions deletions changed_files'),
      ...ofSort('text', 'headline'),
      ...ofSort('truth', 'truncated'),
      ...ofSort('time', 'gone_at'),
    ],
  },
  issues: {
    table: 'issue',
    of: 'collection_id',
    key: [repository, number],
    columns: [
      ...ofSort('number', 'repository_id number'),
      id('issue_id'),
      ...ofSort('text', 'title state'),
      ...ofSort('number', 'author_id comments'),
      ...ofSort('time', 'created_at updated_at closed_at'),
      ...ofSort('number', 'closed_by_id'),
      ...ofSort('truth', 'is_pull_request truncated'),
    ],
  },
  'pull-requests': {
    table: 'pull_request',
    of: 'collection_id',
    key: [repository, number],
    columns: [
      ...ofSort('number', 'repository_id number'),
      id('pull_request_id'),
      ...ofSort('text', 'base_name title state'),
      ...ofSort('number', 'author_id'),
      ...ofSort('time', 'created_at updated_at closed_at merged_at'),
      ...ofSort('number', 'merged_by_id base_owner_id base_stars head_owner_id additions deletions changed_files'),
      ...ofSort('truth', 'truncated'),
    ],
  },
  events: {
    table: 'event',
    of: 'collection_id',
    key: [{ column: 'id', type: 'text' }],
    columns: [
      { name: 'event_id', sort: 'text', from: 'id' },
      ...ofSort('text', 'type'),
      ...ofSort('number', 'repository_id'),
      ...ofSort('time', 'created_at'),
      ...ofSort('json', 'payload'),
      ...ofSort('truth', 'truncated'),
    ],
  },
  statistics: {
    table: 'user_statistics',
    of: 'user_id',
    key: [{ column: 'run', type: 'bigint' }],
    columns: [
      ...ofSort('number', 'user_id run formula'),
      ...ofSort('time', 'computed_at'),
      ...ofSort('number', 'repositories commits additions deletions counted_lines active_days longest_streak current_streak'),
      ...ofSort('number', 'issues_solved pull_requests pull_request_weight activity impact score'),
    ],
  },
}
