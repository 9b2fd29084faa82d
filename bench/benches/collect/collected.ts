/**
 * What the collector has stored of one person, in the shape of the answer sheet.
 */
import { within } from '../../servers/postgres.ts'
import type { Row } from './answer-sheet.ts'

export interface Collected {
  readonly repositories: Row[]
  readonly commits: Row[]
  readonly issues: Row[]
  readonly pulls: Row[]
}

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`
const live = `collection_id = (select id from collector.collection where user_id = $1 and purpose = 'live')`

const statements: Record<keyof Collected, string> = {
  repositories: `
    select id::text as key, id::float8 as id, name, owner_id::float8 as owner, stars, private, fork, state,
           ${ms('pushed_at')} as pushed, ${ms('updated_at')} as updated
    from collector.repository where ${live}`,
  commits: `
    select repository_id || '/' || sha as key, repository_id::float8 as repository, author_id::float8 as author, additions, deletions,
           ${ms('authored_at')} as authored, ${ms('committed_at')} as committed, gone_at is not null as gone
    from collector.commit where ${live}`,
  issues: `
    select repository_id || '/' || number as key, repository_id::float8 as repository, id::float8 as id, state, author_id::float8 as author,
           closed_by_id::float8 as closer, title, ${ms('created_at')} as created, ${ms('updated_at')} as updated, ${ms('closed_at')} as closed
    from collector.issue where ${live} and not is_pull_request`,
  pulls: `
    select repository_id || '/' || number as key, repository_id::float8 as repository, id::float8 as id, state, author_id::float8 as author, title,
           additions, deletions, ${ms('created_at')} as created, ${ms('updated_at')} as updated, ${ms('closed_at')} as closed, ${ms('merged_at')} as merged
    from collector.pull_request where ${live}`,
}

export async function readCollected(databaseUrl: string, userId: number): Promise<Collected> {
  return within(databaseUrl, async (client) => {
    const read = async (what: keyof Collected): Promise<Row[]> => (await client.query<Row>(statements[what], [userId])).rows
    return {
      repositories: await read('repositories'),
      commits: await read('commits'),
      issues: await read('issues'),
      pulls: await read('pulls'),
    }
  })
}
