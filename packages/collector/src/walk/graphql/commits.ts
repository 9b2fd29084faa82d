/** Commits from a fixed head, newest first, with their statistics: a hundred a point. */
import { z } from 'zod'
import type { CommitRow } from '../../commit/commit.ts'
import { batchQuery, type ListItem } from './batch.ts'
import { actor, actorId, count, listOf, pageInfo, time, word } from './shapes.ts'

export interface CommitsItem extends ListItem {
  readonly head: string
  /** Without statistics: they were too much for GitHub even one by one. */
  readonly bare?: boolean | undefined
  /** A slice of time, by committer date. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export function commitsQuery(items: readonly CommitsItem[]) {
  return batchQuery('Commits', items, ({ head, first, bare, since, until }, at) => {
    const slice = [since && `since: $s${at}`, until && `until: $u${at}`].filter(Boolean).map((part) => `, ${part}`)
    return {
      text: `object(oid: $h${at}) { ... on Commit { history(first: ${first}, after: $a${at}${slice.join('')}) {
        totalCount pageInfo { hasNextPage endCursor }
        nodes { oid messageHeadline authoredDate committedDate author { user { databaseId } } ${bare ? '' : 'additions deletions changedFilesIfAvailable'} }
      } } }`,
      variables: {
        [`h${at}:GitObjectID!`]: head,
        ...(since ? { [`s${at}:GitTimestamp`]: since } : {}),
        ...(until ? { [`u${at}:GitTimestamp`]: until } : {}),
      },
    }
  })
}

const commit = z.object({
  oid: word,
  messageHeadline: z.string(),
  authoredDate: time,
  committedDate: time,
  author: z.object({ user: actor }).nullish(),
  additions: count.optional(),
  deletions: count.optional(),
  changedFilesIfAvailable: count.nullish(),
})

export const commitsAnswer = z.object({
  /** null: the commit is no longer there at all. */
  object: z.object({ history: z.object({ totalCount: count, pageInfo, nodes: listOf(commit) }) }).nullable(),
})

export function commitRows(nodes: readonly z.output<typeof commit>[]): CommitRow[] {
  return nodes.map((node) => ({
    sha: node.oid,
    authorId: actorId(node.author?.user),
    authoredAt: node.authoredDate,
    committedAt: node.committedDate,
    additions: node.additions ?? null,
    deletions: node.deletions ?? null,
    changedFiles: node.changedFilesIfAvailable ?? null,
    message: node.messageHeadline,
  }))
}
