/**
 * Repositories. Former names lead on silently, because GraphQL knows no redirects: whoever asks by name must compare ids.
 */
import type { GraphQLResolveInfo } from 'graphql'
import type { Repo } from '../world/model.ts'
import { isVisible, openRepository } from './access.ts'
import { countOnly, type PageArguments } from './connection.ts'
import type { AccountThing, CommitThing, Context, RefThing, RepositoryThing } from './context.ts'
import { notFound } from './failure.ts'
import { type IssueArguments, pageIssues } from './issue.ts'
import { type PullRequestArguments, pagePullRequests } from './pull-request.ts'

export function findRepository(
  owner: string,
  { name, followRenames }: { name: string; followRenames: boolean | null },
  context: Context,
): RepositoryThing {
  const found = context.world.byName(owner, name)
  const moved = found !== undefined && 'movedTo' in found
  const repo = moved ? found.movedTo : found
  if (!isVisible(context, repo) || (moved && followRenames === false)) throw notFound.repository(`${owner}/${name}`)
  return openRepository(context, repo)
}

const ownerOf = (repo: Repo, { world }: Context): AccountThing | null => {
  const account = world.accounts.get(repo.ownerId)
  return account ? { kind: account.type, account } : null
}

const nameOf = ({ repo }: RepositoryThing, context: Context) => `${context.world.accounts.get(repo.ownerId)?.login}/${repo.name}`

/** What is inside is closed while the repository is blocked. */
const inside = <T>(repo: Repo, open: boolean, list: () => readonly T[]) => (open && !repo.blocked ? list() : [])

const refOf = ({ repo }: RepositoryThing): RefThing | null =>
  repo.head === null || repo.blocked ? null : { kind: 'Ref', repo, sha: repo.head }

function findObject(
  thing: RepositoryThing,
  { oid, expression }: { oid?: string | null; expression?: string | null },
  { world }: Context,
): CommitThing | null {
  const { repo } = thing
  if (repo.blocked) return null
  const names = ['HEAD', repo.defaultBranch, `refs/heads/${repo.defaultBranch}`]
  const sha = oid ?? (expression && names.includes(expression) ? repo.head : expression)
  const commit = sha ? world.commit(repo.id, sha) : undefined
  return commit ? { kind: 'Commit', repo, commit } : null
}

function pageRepositoryIssues({ repo }: RepositoryThing, args: IssueArguments, context: Context, info: GraphQLResolveInfo) {
  const issues = inside(repo, repo.hasIssues, () => context.world.issues(repo.id))
  return pageIssues(repo, issues, args, context, info)
}

function pageRepositoryPulls({ repo }: RepositoryThing, args: PullRequestArguments, context: Context, info: GraphQLResolveInfo) {
  const pulls = inside(repo, repo.hasPullRequests, () => context.world.pulls(repo.id))
  return pagePullRequests(pulls, args, context, info)
}

export const repositoryFields = {
  Repository: {
    id: ({ repo }: RepositoryThing) => repo.nodeId,
    databaseId: ({ repo }: RepositoryThing) => repo.id,
    name: ({ repo }: RepositoryThing) => repo.name,
    nameWithOwner: (thing: RepositoryThing, _: unknown, context: Context) => nameOf(thing, context),
    owner: ({ repo }: RepositoryThing, _: unknown, context: Context) => ownerOf(repo, context),
    description: ({ repo }: RepositoryThing) => repo.description,
    url: (thing: RepositoryThing, _: unknown, context: Context) => `https://github.com/${nameOf(thing, context)}`,
    resourcePath: (thing: RepositoryThing, _: unknown, context: Context) => `/${nameOf(thing, context)}`,
    isFork: ({ repo }: RepositoryThing) => repo.fork,
    isPrivate: ({ repo }: RepositoryThing) => repo.private,
    visibility: ({ repo }: RepositoryThing) => (repo.private ? 'PRIVATE' : 'PUBLIC'),
    isArchived: ({ repo }: RepositoryThing) => repo.archived,
    isEmpty: ({ repo }: RepositoryThing) => repo.head === null,
    isDisabled: ({ repo }: RepositoryThing) => repo.blocked !== null,
    isLocked: () => false,
    isInOrganization: ({ repo }: RepositoryThing, _: unknown, { world }: Context) =>
      world.accounts.get(repo.ownerId)?.type === 'Organization',
    stargazerCount: ({ repo }: RepositoryThing) => repo.stars,
    stargazers: ({ repo }: RepositoryThing, args: PageArguments, context: Context, info: GraphQLResolveInfo) =>
      countOnly(repo.stars, args, info, context),
    forkCount: () => 0,
    primaryLanguage: ({ repo }: RepositoryThing) =>
      repo.language === null
        ? null
        : { id: `LA_${Buffer.from(repo.language).toString('base64url')}`, name: repo.language, color: null },
    createdAt: ({ repo }: RepositoryThing) => repo.createdAt,
    updatedAt: ({ repo }: RepositoryThing) => repo.updatedAt,
    pushedAt: ({ repo }: RepositoryThing) => repo.pushedAt,
    archivedAt: ({ repo }: RepositoryThing) => (repo.archived ? repo.updatedAt : null),
    hasIssuesEnabled: ({ repo }: RepositoryThing) => repo.hasIssues,
    defaultBranchRef: refOf,
    ref: (thing: RepositoryThing, { qualifiedName }: { qualifiedName: string }) =>
      [thing.repo.defaultBranch, `refs/heads/${thing.repo.defaultBranch}`].includes(qualifiedName) ? refOf(thing) : null,
    object: findObject,
    issues: pageRepositoryIssues,
    pullRequests: pageRepositoryPulls,
    issue: ({ repo }: RepositoryThing, { number }: { number: number }, { world }: Context) => {
      const issue = inside(repo, repo.hasIssues, () => world.issues(repo.id)).find((one) => one.number === number)
      if (!issue) throw notFound.numbered('Issue', number)
      return { kind: 'Issue', issue, repo }
    },
    pullRequest: ({ repo }: RepositoryThing, { number }: { number: number }, { world }: Context) => {
      const pull = inside(repo, repo.hasPullRequests, () => world.pulls(repo.id)).find((one) => one.number === number)
      if (!pull) throw notFound.numbered('PullRequest', number)
      return { kind: 'PullRequest', pull, repo }
    },
  },
  Ref: {
    id: ({ repo }: RefThing) => `REF_${Buffer.from(`${repo.id}:refs/heads/${repo.defaultBranch}`).toString('base64url')}`,
    name: ({ repo }: RefThing) => repo.defaultBranch,
    prefix: () => 'refs/heads/',
    repository: ({ repo }: RefThing) => ({ kind: 'Repository', repo }),
    target: ({ repo, sha }: RefThing, _: unknown, { world }: Context) => ({
      kind: 'Commit',
      repo,
      commit: world.commit(repo.id, sha),
    }),
  },
}
