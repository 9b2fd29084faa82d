/** How much is stored of a user's live collection, by repository: what an estimate starts from. */
import type { Executor } from '@sluice/engine'
import sql from 'sql-template-tag'
import type { Stored, StoredRepository } from './estimate.ts'

/** Nothing before the first collection. */
export async function countStored(on: Executor, userId: number): Promise<Stored | undefined> {
  const { rows } = await on.query<StoredRepository>(sql`
    with live as (select id from collector.collection where user_id = ${userId} and purpose = 'live'),
    commits as (
      select repository_id as id, count(*) as n from collector.commit
      where collection_id = (select id from live) and gone_at is null group by repository_id),
    issues as (
      select repository_id as id, count(*) as n from collector.issue
      where collection_id = (select id from live) and not is_pull_request group by repository_id),
    pulls as (
      select repository_id as id, count(*) as n from collector.pull_request
      where collection_id = (select id from live) group by repository_id)
    select coalesce(c.n, 0)::integer as commits, coalesce(i.n, 0)::integer as issues, coalesce(p.n, 0)::integer as "pullRequests"
    from collector.repository r
    left join commits c on c.id = r.id
    left join issues i on i.id = r.id
    left join pulls p on p.id = r.id
    where r.collection_id = (select id from live) and r.state in ('active', 'empty')`)
  if (rows.length === 0) return undefined
  const own = await on.query<{ n: number }>(sql`
    select count(*)::integer as n from collector.pull_request
    where collection_id = (select id from collector.collection where user_id = ${userId} and purpose = 'live') and author_id = ${userId}`)
  return { repositories: rows, ownPullRequests: own.rows[0]?.n ?? 0 }
}
