/**
 * Pull requests: of a repository, or of a user wherever they were opened.
 */
import type { GraphQLResolveInfo } from 'graphql'
import type { PullRequest, Repo } from '../world/model.ts'
import { accountOf, guardOf, linkedRepository } from './access.ts'
import { type Connection, countOnly, type PageArguments, pageByKey } from './connection.ts'
import type { Context, PullRequestThing } from './context.ts'
import type { Failure } from './failure.ts'
import { type ItemOrder, itemValues } from './issue.ts'

type State = 'OPEN' | 'CLOSED' | 'MERGED'

export interface PullRequestArguments extends PageArguments {
  readonly orderBy?: ItemOrder | null
  readonly states?: readonly State[] | null
}

const stateOf = (pull: PullRequest): State => (pull.mergedAt !== null ? 'MERGED' : pull.state === 'open' ? 'OPEN' : 'CLOSED')

/** The pull requests may be in many repositories; one in a guarded place leaves a hole. */
export function pagePullRequests(
  pulls: readonly PullRequest[],
  args: PullRequestArguments,
  context: Context,
  info: GraphQLResolveInfo,
): Connection<PullRequestThing | Failure> {
  const rows = args.states ? pulls.filter((pull) => args.states?.includes(stateOf(pull))) : pulls
  const { field, direction } = args.orderBy ?? { field: 'CREATED_AT', direction: 'ASC' }
  const order = { value: itemValues[field], id: (pull: PullRequest) => pull.id, direction }
  const toThing = (pull: PullRequest): PullRequestThing | Failure => {
    const repo = context.world.repos.get(pull.repoId) as Repo
    return guardOf(context, repo) ?? { kind: 'PullRequest', pull, repo }
  }
  return pageByKey(rows, order, args, toThing, info, context)
}

const webPath = ({ pull, repo }: PullRequestThing, { world }: Context) =>
  `/${world.accounts.get(repo.ownerId)?.login}/${repo.name}/pull/${pull.number}`

function headOwner({ pull }: PullRequestThing, context: Context) {
  const head = linkedRepository(context, pull.headRepoId)
  return head === null ? null : accountOf(context, head.repo.ownerId)
}

export const pullRequestFields = {
  PullRequest: {
    id: ({ pull }: PullRequestThing) => pull.nodeId,
    databaseId: ({ pull }: PullRequestThing) => pull.id,
    fullDatabaseId: ({ pull }: PullRequestThing) => pull.id,
    number: ({ pull }: PullRequestThing) => pull.number,
    title: ({ pull }: PullRequestThing) => pull.title,
    body: ({ pull }: PullRequestThing) => pull.body ?? '',
    state: ({ pull }: PullRequestThing) => stateOf(pull),
    closed: ({ pull }: PullRequestThing) => pull.state === 'closed',
    closedAt: ({ pull }: PullRequestThing) => pull.closedAt,
    createdAt: ({ pull }: PullRequestThing) => pull.createdAt,
    updatedAt: ({ pull }: PullRequestThing) => pull.updatedAt,
    merged: ({ pull }: PullRequestThing) => pull.mergedAt !== null,
    mergedAt: ({ pull }: PullRequestThing) => pull.mergedAt,
    mergedBy: ({ pull }: PullRequestThing, _: unknown, context: Context) => accountOf(context, pull.mergedById),
    isDraft: () => false,
    additions: ({ pull }: PullRequestThing) => pull.additions,
    deletions: ({ pull }: PullRequestThing) => pull.deletions,
    changedFiles: ({ pull }: PullRequestThing) => pull.changedFiles,
    author: ({ pull }: PullRequestThing, _: unknown, context: Context) => accountOf(context, pull.authorId),
    url: (thing: PullRequestThing, _: unknown, context: Context) => `https://github.com${webPath(thing, context)}`,
    resourcePath: (thing: PullRequestThing, _: unknown, context: Context) => webPath(thing, context),
    repository: ({ repo }: PullRequestThing) => ({ kind: 'Repository', repo }),
    baseRepository: ({ repo }: PullRequestThing) => ({ kind: 'Repository', repo }),
    baseRefName: ({ repo }: PullRequestThing) => repo.defaultBranch,
    headRefName: ({ pull }: PullRequestThing) => `change-${pull.number}`,
    headRefOid: ({ pull }: PullRequestThing) => pull.headSha,
    headRepository: ({ pull }: PullRequestThing, _: unknown, context: Context) => linkedRepository(context, pull.headRepoId),
    headRepositoryOwner: (thing: PullRequestThing, _: unknown, context: Context) => headOwner(thing, context),
    isCrossRepository: ({ pull }: PullRequestThing) => pull.headRepoId !== pull.repoId,
    comments: ({ pull }: PullRequestThing, args: PageArguments, context: Context, info: GraphQLResolveInfo) =>
      countOnly(pull.comments, args, info, context),
  },
}
