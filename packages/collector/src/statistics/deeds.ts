/**
 * What a user did, counted in the database from the live collection.
 *
 * Only what the user's own GitHub id did counts. A commit that is in a repository and in its fork is one commit; one that was pushed away is none. A pull
 * request counts when the owner of its base is known and is somebody else.
 */
import { onClient, type TransactionClient } from '@sluice/engine'
import sql from 'sql-template-tag'
import { commitLinesMax, type Deeds } from './score.ts'
import { countStreaks, type Streaks } from './streaks.ts'

export interface CountedDeeds extends Deeds, Streaks {
  readonly repositories: number
  readonly additions: number
  readonly deletions: number
  readonly pullRequests: number
}

interface Counted {
  repositories: number
  commits: number
  additions: number
  deletions: number
  countedLines: number
  issuesSolved: number
  today: number
  days: number[] | null
  merged: { stars: number; count: number }[] | null
}

export async function countDeeds(tx: TransactionClient, collection: number, userId: number): Promise<CountedDeeds> {
  const { rows } = await onClient(tx).query<Counted>(sql`
    with
    own as materialized (
      -- statistics of the one that has them, where a fork has the same commit without
      select distinct on (m.sha) m.sha, m.authored_at, coalesce(m.additions, 0) as additions, coalesce(m.deletions, 0) as deletions
      from collector.commit m
      where m.collection_id = ${collection} and m.author_id = ${userId} and m.gone_at is null
      order by m.sha, m.additions nulls last, m.repository_id),
    merged as (
      select coalesce(base_stars, 0) as stars, count(*)::integer as count
      from collector.pull_request
      where collection_id = ${collection} and author_id = ${userId} and merged_at is not null and base_owner_id <> ${userId}
      group by 1)
    select
      (select count(*) from collector.repository where collection_id = ${collection} and state not in ('deleted', 'left'))::integer as repositories,
      (select count(*) from own)::integer as commits,
      (select coalesce(sum(additions), 0) from own)::double precision as additions,
      (select coalesce(sum(deletions), 0) from own)::double precision as deletions,
      (select coalesce(sum(least(additions::bigint + deletions, ${commitLinesMax})), 0) from own)::double precision as "countedLines",
      (select count(distinct id)
       from collector.issue
       where collection_id = ${collection} and closed_by_id = ${userId} and state = 'closed' and not is_pull_request)::integer as "issuesSolved",
      floor(extract(epoch from sluice.now()) / 86400)::integer as today,
      (select array_agg(distinct floor(extract(epoch from authored_at) / 86400)::integer) from own) as days,
      (select json_agg(merged) from merged) as merged`)
  const { today, days, merged, ...counted } = rows[0] as Counted
  const mergedByStars = merged ?? []
  return {
    ...counted,
    ...countStreaks(days ?? [], today),
    pullRequests: mergedByStars.reduce((sum, { count }) => sum + count, 0),
    mergedByStars,
  }
}
