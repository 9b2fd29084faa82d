/**
 * Issues, and who closed them. Pull requests are never among them: in GraphQL they are lists of their own.
 */
import type { GraphQLResolveInfo } from 'graphql'
import type { Issue, Repo } from '../world/model.ts'
import { accountOf } from './access.ts'
import { type Connection, countOnly, type PageArguments, pageByKey } from './connection.ts'
import type { Context, IssueThing } from './context.ts'

export interface ItemOrder {
  readonly field: 'CREATED_AT' | 'UPDATED_AT' | 'COMMENTS'
  readonly direction: 'ASC' | 'DESC'
}
type State = 'OPEN' | 'CLOSED'

export interface IssueArguments extends PageArguments {
  readonly orderBy?: ItemOrder | null
  readonly states?: readonly State[] | null
  readonly filterBy?: {
    readonly createdBy?: string | null
    readonly since?: number | null
    readonly states?: readonly State[] | null
  } | null
}

export const itemValues = {
  CREATED_AT: (item: { createdAt: number }) => item.createdAt,
  UPDATED_AT: (item: { updatedAt: number }) => item.updatedAt,
  COMMENTS: (item: { comments: number }) => item.comments,
}

const stateOf = (issue: Issue): State => (issue.state === 'open' ? 'OPEN' : 'CLOSED')

export function pageIssues(
  repo: Repo,
  issues: readonly Issue[],
  args: IssueArguments,
  context: Context,
  info: GraphQLResolveInfo,
): Connection<IssueThing> {
  const { createdBy, since } = args.filterBy ?? {}
  const states = args.filterBy?.states ?? args.states
  const creator = createdBy ? context.world.byLogin(createdBy)?.id : undefined
  const rows =
    states || since || createdBy
      ? issues.filter(
          (issue) =>
            (!states || states.includes(stateOf(issue))) &&
            (!since || issue.updatedAt >= since) &&
            (!createdBy || issue.authorId === creator),
        )
      : issues
  const { field, direction } = args.orderBy ?? { field: 'CREATED_AT', direction: 'ASC' }
  const order = { value: itemValues[field], id: (issue: Issue) => issue.id, direction }
  return pageByKey(rows, order, args, (issue): IssueThing => ({ kind: 'Issue', issue, repo }), info, context)
}

interface TimelineArguments extends PageArguments {
  readonly itemTypes?: readonly string[] | null
}

const timelineOrder = {
  value: ({ issue }: IssueThing) => issue.closedAt ?? 0,
  id: ({ issue }: IssueThing) => issue.id,
  direction: 'ASC' as const,
}

/** Of the whole timeline, the simulator knows the closing. */
function pageTimeline({ issue, repo }: IssueThing, args: TimelineArguments, context: Context, info: GraphQLResolveInfo) {
  const isAsked = args.itemTypes?.includes('CLOSED_EVENT') ?? true
  const rows: IssueThing[] = isAsked && issue.closedAt !== null ? [{ kind: 'ClosedEvent', issue, repo }] : []
  const page = pageByKey(rows, timelineOrder, args, (thing: IssueThing) => thing, info, context)
  return { ...page, updatedAt: issue.updatedAt }
}

const webPath = ({ issue, repo }: IssueThing, { world }: Context) =>
  `/${world.accounts.get(repo.ownerId)?.login}/${repo.name}/issues/${issue.number}`

export const issueFields = {
  Issue: {
    id: ({ issue }: IssueThing) => issue.nodeId,
    databaseId: ({ issue }: IssueThing) => issue.id,
    fullDatabaseId: ({ issue }: IssueThing) => issue.id,
    number: ({ issue }: IssueThing) => issue.number,
    title: ({ issue }: IssueThing) => issue.title,
    body: ({ issue }: IssueThing) => issue.body ?? '',
    state: ({ issue }: IssueThing) => stateOf(issue),
    stateReason: ({ issue }: IssueThing) => (issue.state === 'closed' ? 'COMPLETED' : null),
    closed: ({ issue }: IssueThing) => issue.state === 'closed',
    closedAt: ({ issue }: IssueThing) => issue.closedAt,
    createdAt: ({ issue }: IssueThing) => issue.createdAt,
    updatedAt: ({ issue }: IssueThing) => issue.updatedAt,
    author: ({ issue }: IssueThing, _: unknown, context: Context) => accountOf(context, issue.authorId),
    url: (thing: IssueThing, _: unknown, context: Context) => `https://github.com${webPath(thing, context)}`,
    resourcePath: (thing: IssueThing, _: unknown, context: Context) => webPath(thing, context),
    repository: ({ repo }: IssueThing) => ({ kind: 'Repository', repo }),
    comments: ({ issue }: IssueThing, args: PageArguments, context: Context, info: GraphQLResolveInfo) =>
      countOnly(issue.comments, args, info, context),
    timelineItems: pageTimeline,
  },
  ClosedEvent: {
    id: ({ issue }: IssueThing) => `CE_${Buffer.from(`${issue.id}:closed`).toString('base64url')}`,
    createdAt: ({ issue }: IssueThing) => issue.closedAt,
    actor: ({ issue }: IssueThing, _: unknown, context: Context) => accountOf(context, issue.closedById),
    url: (thing: IssueThing, _: unknown, context: Context) => `https://github.com${webPath(thing, context)}`,
    resourcePath: (thing: IssueThing, _: unknown, context: Context) => webPath(thing, context),
  },
}
