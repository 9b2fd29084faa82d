/** What a page of discovery means for what is stored: the state of each repository, and which of them this run meets for the first time. */
import { readCursors } from '../cursor/cursor.ts'
import { listedState } from '../repository/listed-state.ts'
import { findRepositories, type Repository, type RepositoryRow, type RepositoryState } from '../repository/repository.ts'
import type { Marks } from './fan-out.ts'
import type { Discovered } from './graphql/discovery.ts'
import type { Workshop } from './workshop.ts'

export interface Fresh extends Discovered {
  readonly marks: Marks
  readonly state: RepositoryState
}

/** Only those that no earlier page of this run has met: what its children have found out about the others meanwhile is newer than any list. */
export interface Judged {
  readonly rows: readonly RepositoryRow[]
  readonly readable: readonly Fresh[]
}

export async function judgeListed(
  { engine, settings }: Workshop,
  { collection, run }: { collection: number; run: number },
  listed: readonly Discovered[],
): Promise<Judged> {
  const ids = listed.map(({ row }) => row.id)
  const stored = await findRepositories(engine, collection, ids)
  const found = listed.filter(({ row }) => stored.get(row.id)?.seenRun !== run)
  const [commits, issues, pulls] = await Promise.all(
    (['commits', 'issues', 'pull-requests'] as const).map((resource) => readCursors(engine, collection, resource, ids)),
  )
  const rows = found.map(({ row: { disabled, ...row }, headUnknown }) => {
    const before = stored.get(row.id)
    const head = headUnknown ? guessHead(row, before) : row.head
    return {
      ...row,
      head: headUnknown ? (before?.head ?? null) : head,
      state: listedState(before, { head, disabled }, settings.now()),
    }
  })
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  const readable = found.flatMap((one) => {
    const { id } = one.row
    const state = states.get(id)
    if (state !== 'active' && state !== 'empty') return []
    return [{ ...one, state, marks: { commits: commits?.get(id), issues: issues?.get(id), pulls: pulls?.get(id) } }]
  })
  return { rows, readable }
}

/** Only for the state: one that was empty and saw no push since still is. */
function guessHead({ pushedAt }: Pick<RepositoryRow, 'pushedAt'>, before: Repository | undefined): string | null {
  if (pushedAt === null) return null
  const same = before?.pushedAt?.getTime() === Date.parse(pushedAt)
  return before?.state === 'empty' && same ? null : 'unknown'
}
