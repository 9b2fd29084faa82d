/**
 * Discovery: a page of the user's repositories, with what tells whether anything in them has changed. The newest issue, the newest pull request, head and
 * number of commits come along, so that fifty repositories in which nothing happened cost one point.
 */
import { z } from 'zod'
import type { RepositoryRow } from '../../repository/repository.ts'
import type { ListSight, Sight } from '../fan-out.ts'
import { count, id, listOf, pageInfo, time, word } from './shapes.ts'

export const discoveryPage = 50

const newest = 'orderBy: { field: UPDATED_AT, direction: DESC }) { totalCount nodes { updatedAt } }'

export const discoveryQuery = `query Repositories($user: ID!, $first: Int!, $after: String, $by: RepositoryOrderField!, $of: [RepositoryAffiliation]!) {
  rateLimit { cost }
  node(id: $user) {
    ... on User {
      pullRequests(first: 1, ${newest}
      repositories(first: $first, after: $after, ownerAffiliations: $of, orderBy: { field: $by, direction: DESC }) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id databaseId name isFork isPrivate isArchived isDisabled stargazerCount createdAt updatedAt pushedAt hasIssuesEnabled
          owner { login ... on User { databaseId } ... on Organization { databaseId } }
          primaryLanguage { name }
          defaultBranchRef { name target { oid ... on Commit { history { totalCount } } } }
          issues(first: 1, ${newest}
          pullRequests(first: 1, ${newest}
        }
      }
    }
  }
}`

const list = z.object({ totalCount: count, nodes: listOf(z.object({ updatedAt: time })).nullish() }).nullish()
const branch = z.object({
  name: z.string(),
  target: z.object({ oid: word, history: z.object({ totalCount: count }).nullish() }).nullable(),
})
const repository = z.object({
  id: word,
  databaseId: id,
  name: z.string(),
  isFork: z.boolean(),
  isPrivate: z.boolean(),
  isArchived: z.boolean(),
  isDisabled: z.boolean(),
  stargazerCount: count,
  createdAt: time,
  updatedAt: time,
  pushedAt: time.nullable(),
  hasIssuesEnabled: z.boolean(),
  owner: z.object({ login: z.string(), databaseId: id.nullish() }),
  primaryLanguage: z.object({ name: z.string() }).nullable(),
  defaultBranchRef: branch.nullable(),
  issues: list,
  pullRequests: list,
})

export const discoveryAnswer = z.object({
  node: z.object({ pullRequests: list, repositories: z.object({ pageInfo, nodes: listOf(repository) }) }).nullable(),
})

export interface Discovered {
  readonly row: Omit<RepositoryRow, 'state'> & { readonly disabled: boolean }
  readonly sight: Sight
  /** The list does not tell it. */
  readonly headUnknown?: boolean
}

export interface DiscoveryPage {
  readonly found: readonly Discovered[]
  readonly ownPulls: ListSight | undefined
  readonly next: string | undefined
}

export function readDiscovery({ node }: z.output<typeof discoveryAnswer>): DiscoveryPage | undefined {
  if (!node) return undefined
  const { pageInfo: page, nodes } = node.repositories
  const next = page.hasNextPage && page.endCursor !== null ? page.endCursor : undefined
  return { found: nodes.map(discovered), ownPulls: sightOf(node.pullRequests), next }
}

function discovered(seen: z.output<typeof repository>): Discovered {
  const { defaultBranchRef, owner } = seen
  const issues = sightOf(seen.issues)
  const pulls = sightOf(seen.pullRequests)
  const head = defaultBranchRef?.target?.oid ?? null
  const row = {
    id: seen.databaseId,
    nodeId: seen.id,
    ownerId: owner.databaseId ?? 0,
    ownerLogin: owner.login,
    name: seen.name,
    fork: seen.isFork,
    private: seen.isPrivate,
    archived: seen.isArchived,
    disabled: seen.isDisabled,
    stars: seen.stargazerCount,
    language: seen.primaryLanguage?.name ?? null,
    defaultBranch: defaultBranchRef?.name ?? null,
    head,
    hasIssues: seen.hasIssuesEnabled,
    hasPullRequests: pulls !== undefined,
    createdAt: seen.createdAt,
    updatedAt: seen.updatedAt,
    pushedAt: seen.pushedAt,
    newestIssueAt: issues?.newestAt ?? null,
    newestPullAt: pulls?.newestAt ?? null,
  }
  const none = { count: 0, newestAt: null }
  const sight = {
    head,
    commits: defaultBranchRef?.target?.history?.totalCount,
    issues: seen.hasIssuesEnabled ? issues : none,
    pulls: pulls ?? none,
  }
  return { row, sight }
}

function sightOf(seen: z.output<typeof list>): ListSight | undefined {
  return seen ? { count: seen.totalCount, newestAt: seen.nodes?.[0]?.updatedAt ?? null } : undefined
}
