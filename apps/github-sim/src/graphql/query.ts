/**
 * Where a query begins: by login, by name, by node id, and the budget.
 */
import { accountOf, isVisible, openRepository } from './access.ts'
import type { AccountThing, CommitThing, Context, IssueThing, PullRequestThing, RepositoryThing } from './context.ts'
import { Failure, notFound } from './failure.ts'
import { findRepository } from './repository.ts'

const idsMax = 100

type NodeThing = AccountThing | RepositoryThing | CommitThing | IssueThing | PullRequestThing

function findAccount(type: 'User' | 'Organization', login: string, { world }: Context): AccountThing {
  const account = world.byLogin(login)
  if (account?.type !== type || account.suspended) throw notFound.account(type, login)
  return { kind: type, account }
}

function findNode(id: string, context: Context): NodeThing {
  const found = context.world.byNodeId(id)
  if (found === undefined) throw notFound.node(id)
  if (found.type === 'account') {
    const thing = accountOf(context, found.account.id)
    if (!thing) throw notFound.node(id)
    return thing
  }
  const repoId = found.type === 'issue' ? found.issue.repoId : found.type === 'pull' ? found.pull.repoId : found.repo.id
  const repo = context.world.repos.get(repoId)
  if (!isVisible(context, repo)) throw notFound.node(id)
  const place = openRepository(context, repo)
  switch (found.type) {
    case 'repo':
      return place
    case 'commit':
      return { kind: 'Commit', repo, commit: found.commit }
    case 'issue':
      return { kind: 'Issue', repo, issue: found.issue }
    case 'pull':
      return { kind: 'PullRequest', repo, pull: found.pull }
  }
}

function findNodes(ids: readonly string[], context: Context): (NodeThing | Failure)[] {
  if (ids.length > idsMax)
    throw new Failure('ARGUMENT_LIMIT', `You may not provide more than ${idsMax} node ids; you provided ${ids.length}.`)
  return ids.map((id) => {
    try {
      return findNode(id, context)
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    }
  })
}

export const queryFields = {
  Query: {
    id: () => 'Q_query',
    viewer: (_: unknown, __: unknown, { viewer }: Context): AccountThing => ({ kind: viewer.type, account: viewer }),
    user: (_: unknown, { login }: { login: string }, context: Context) => findAccount('User', login, context),
    organization: (_: unknown, { login }: { login: string }, context: Context) => findAccount('Organization', login, context),
    repositoryOwner: (_: unknown, { login }: { login: string }, context: Context) =>
      accountOf(context, context.world.byLogin(login)?.id ?? null),
    repository: (_: unknown, args: { owner: string; name: string; followRenames: boolean | null }, context: Context) =>
      findRepository(args.owner, args, context),
    node: (_: unknown, { id }: { id: string }, context: Context) => findNode(id, context),
    nodes: (_: unknown, { ids }: { ids: readonly string[] }, context: Context) => findNodes(ids, context),
    rateLimit: (_: unknown, __: unknown, { budget, estimate }: Context) => ({
      cost: estimate.points,
      nodeCount: estimate.nodes,
      limit: budget.limit,
      remaining: Math.max(0, budget.remaining - estimate.points),
      used: budget.used + estimate.points,
      resetAt: budget.resetAt,
    }),
  },
}
