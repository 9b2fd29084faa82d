/** What a page of discovery means for what is stored: the state of each repository, and which of them this run meets for the first time. */
import { readCursors } from '../cursor/cursor.ts'
import { listedState } from '../repository/listed-state.ts'
import { findRepositories, type RepositoryRow } from '../repository/repository.ts'
import type { Marks } from './fan-out.ts'
import type { Discovered } from './graphql/discovery.ts'
import type { Workshop } from './workshop.ts'

export interface Judged {
  readonly rows: readonly RepositoryRow[]
  /** Readable, and not met by an earlier page of this run. */
  readonly fresh: readonly (Discovered & { readonly marks: Marks })[]
}

export async function judgeListed(
  { engine, settings }: Workshop,
  { collection, run }: { collection: number; run: number },
  found: readonly Discovered[],
): Promise<Judged> {
  const ids = found.map(({ row }) => row.id)
  const stored = await findRepositories(engine, collection, ids)
  const [commits, issues, pulls] = await Promise.all(
    (['commits', 'issues', 'pull-requests'] as const).map((resource) => readCursors(engine, collection, resource, ids)),
  )
  const rows = found.map(({ row: { disabled, ...row } }) => ({
    ...row,
    state: listedState(stored.get(row.id), { head: row.head, disabled }, settings.now()),
  }))
  const readable = new Set(rows.filter(({ state }) => state === 'active' || state === 'empty').map(({ id }) => id))
  const fresh = found
    .filter(({ row }) => readable.has(row.id) && stored.get(row.id)?.seenRun !== run)
    .map((one) => {
      const { id } = one.row
      return { ...one, marks: { commits: commits?.get(id), issues: issues?.get(id), pulls: pulls?.get(id) } }
    })
  return { rows, fresh }
}
