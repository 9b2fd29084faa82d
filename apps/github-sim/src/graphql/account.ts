/**
 * Users and organizations: profile, repositories, and everything a user has written anywhere.
 */
import type { GraphQLResolveInfo } from 'graphql'
import type { Affiliation, Repo } from '../world/model.ts'
import { guardOf, isVisible } from './access.ts'
import { type Connection, countOnly, type PageArguments, pageByKey } from './connection.ts'
import type { AccountThing, Context, RepositoryThing } from './context.ts'
import type { Failure } from './failure.ts'
import { type PullRequestArguments, pagePullRequests } from './pull-request.ts'
import { findRepository } from './repository.ts'

interface RepositoryArguments extends PageArguments {
  readonly affiliations?: readonly Affiliation[] | null
  readonly ownerAffiliations?: readonly Affiliation[] | null
  readonly hasIssuesEnabled?: boolean | null
  readonly isArchived?: boolean | null
  readonly isFork?: boolean | null
  readonly isLocked?: boolean | null
  readonly privacy?: 'PUBLIC' | 'PRIVATE' | null
  readonly visibility?: 'PUBLIC' | 'PRIVATE' | 'INTERNAL' | null
  readonly orderBy?: { readonly field: RepositoryOrderField; readonly direction: 'ASC' | 'DESC' } | null
}
type RepositoryOrderField = 'CREATED_AT' | 'UPDATED_AT' | 'PUSHED_AT' | 'NAME' | 'STARGAZERS'

const orderKeys: Readonly<Record<RepositoryOrderField, (repo: Repo) => string | number>> = {
  CREATED_AT: (repo) => repo.createdAt,
  UPDATED_AT: (repo) => repo.updatedAt,
  PUSHED_AT: (repo) => repo.pushedAt ?? 0,
  NAME: (repo) => repo.name.toLowerCase(),
  STARGAZERS: (repo) => repo.stars,
}

function pageRepositories(
  { account }: AccountThing,
  args: RepositoryArguments,
  context: Context,
  info: GraphQLResolveInfo,
): Connection<RepositoryThing | Failure> {
  const wanted = (asked: boolean | null | undefined, value: boolean) => asked === null || asked === undefined || asked === value
  const asked = args.visibility ?? args.privacy
  const both = (args.ownerAffiliations ?? ['OWNER', 'COLLABORATOR']).filter((one) => args.affiliations?.includes(one) ?? true)
  const repos = context.world
    .reposOf(account.id, both)
    .filter(
      (repo) =>
        isVisible(context, repo) &&
        (context.mayRead || !repo.private) &&
        wanted(args.isFork, repo.fork) &&
        wanted(args.isArchived, repo.archived) &&
        wanted(args.hasIssuesEnabled, repo.hasIssues) &&
        args.isLocked !== true &&
        (!asked || asked === (repo.private ? 'PRIVATE' : 'PUBLIC')),
    )
  const { field, direction } = args.orderBy ?? { field: 'CREATED_AT', direction: 'ASC' }
  const order = { value: orderKeys[field], id: (repo: Repo) => repo.id, direction }
  const toThing = (repo: Repo): RepositoryThing | Failure => guardOf(context, repo) ?? { kind: 'Repository', repo }
  return pageByKey(repos, order, args, toThing, info, context)
}

function pageOwnPulls({ account }: AccountThing, args: PullRequestArguments, context: Context, info: GraphQLResolveInfo) {
  const pulls = context.world.pullsBy(account.id).filter((pull) => {
    const repo = context.world.repos.get(pull.repoId)
    return isVisible(context, repo) && !repo.blocked && repo.hasPullRequests
  })
  return pagePullRequests(pulls, args, context, info)
}

const shared = {
  id: ({ account }: AccountThing) => account.nodeId,
  databaseId: ({ account }: AccountThing) => account.id,
  login: ({ account }: AccountThing) => account.login,
  name: ({ account }: AccountThing) => account.name,
  createdAt: ({ account }: AccountThing) => account.createdAt,
  updatedAt: ({ account }: AccountThing) => account.updatedAt,
  url: ({ account }: AccountThing) => `https://github.com/${account.login}`,
  resourcePath: ({ account }: AccountThing) => `/${account.login}`,
  avatarUrl: ({ account }: AccountThing) => `https://avatars.githubusercontent.com/u/${account.id}?v=4`,
  repositories: pageRepositories,
  repository: ({ account }: AccountThing, args: { name: string; followRenames: boolean | null }, context: Context) =>
    findRepository(account.login, args, context),
}

export const accountFields = {
  User: {
    ...shared,
    /** Hidden by everybody. */
    email: () => '',
    isViewer: ({ account }: AccountThing, _: unknown, { viewer }: Context) => account.id === viewer.id,
    followers: ({ account }: AccountThing, args: PageArguments, context: Context, info: GraphQLResolveInfo) =>
      countOnly(account.followers, args, info, context),
    pullRequests: pageOwnPulls,
  },
  Organization: { ...shared, description: () => null },
}
