/** Commits whose statistics an earlier run did not get: its job for them died. Those of this run are under way. */
import type { Executor } from '@sluice/engine'
import sql from 'sql-template-tag'

/** The rest waits for the next run. */
const bareMax = 2_000

export async function findBare(on: Executor, collection: number, run: number): Promise<{ id: number; sha: string }[]> {
  const { rows } = await on.query<{ id: number; sha: string }>(sql`
    select c.repository_id as id, c.sha
    from collector.commit c
    join collector.repository r on r.collection_id = c.collection_id and r.id = c.repository_id and r.state = 'active'
    where c.collection_id = ${collection} and c.additions is null and c.gone_at is null and c.walk < ${run}
    order by c.repository_id, c.sha
    limit ${bareMax}`)
  return rows.map(({ id, sha }) => ({ id: Number(id), sha }))
}
