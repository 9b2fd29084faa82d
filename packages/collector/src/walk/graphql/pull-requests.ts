/** Pull requests, those that changed last first: of a repository, or of the user wherever they are. */
import { z } from 'zod'
import type { PullRequestRow } from '../../pull-request/pull-request.ts'
import { batchQuery, type ListItem } from './batch.ts'
import { actor, actorFields, actorId, count, id, listOf, pageInfo, time } from './shapes.ts'

export interface PullsItem extends ListItem {
  readonly since?: string | undefined
}

const fields = `pageInfo { hasNextPage endCursor }
      nodes {
        databaseId number title state createdAt updatedAt closedAt mergedAt additions deletions changedFiles
        author { ${actorFields} } mergedBy { ${actorFields} }
        headRepositoryOwner { ... on User { databaseId } ... on Organization { databaseId } }
        baseRepository { databaseId nameWithOwner stargazerCount owner { ... on User { databaseId } ... on Organization { databaseId } } }
      }`

export function pullsQuery(items: readonly PullsItem[]) {
  return batchQuery('PullRequests', items, ({ first }, at) => ({
    text: `pullRequests(first: ${first}, after: $a${at}, orderBy: { field: UPDATED_AT, direction: DESC }) { ${fields} }`,
  }))
}

export const ownPullsQuery = `query OwnPullRequests($user: ID!, $first: Int!, $after: String) {
  rateLimit { cost }
  node(id: $user) { ... on User {
    pullRequests(first: $first, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) { ${fields} }
  } }
}`

const pull = z.object({
  databaseId: id,
  number: id,
  title: z.string(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  createdAt: time,
  updatedAt: time,
  closedAt: time.nullable(),
  mergedAt: time.nullable(),
  additions: count,
  deletions: count,
  changedFiles: count,
  author: actor,
  mergedBy: actor,
  headRepositoryOwner: actor,
  baseRepository: z.object({ databaseId: id, nameWithOwner: z.string(), stargazerCount: count, owner: actor }).nullable(),
})

export const pullsAnswer = z.object({ pullRequests: z.object({ pageInfo, nodes: listOf(pull) }) })
export const ownPullsAnswer = z.object({ node: pullsAnswer.nullable() })

/** One whose base this token may not see has no place to be stored in. */
export function pullRows(nodes: readonly z.output<typeof pull>[]): PullRequestRow[] {
  return nodes.flatMap((node) => {
    const base = node.baseRepository
    if (!base) return []
    return {
      repositoryId: base.databaseId,
      number: node.number,
      id: node.databaseId,
      title: node.title,
      state: node.state === 'OPEN' ? ('open' as const) : ('closed' as const),
      authorId: actorId(node.author),
      createdAt: node.createdAt,
      updatedAt: node.updatedAt,
      closedAt: node.closedAt,
      mergedAt: node.mergedAt,
      mergedById: actorId(node.mergedBy),
      baseName: base.nameWithOwner,
      baseOwnerId: actorId(base.owner),
      baseStars: base.stargazerCount,
      headOwnerId: actorId(node.headRepositoryOwner),
      additions: node.additions,
      deletions: node.deletions,
      changedFiles: node.changedFiles,
    }
  })
}
