/**
 * Issues, and who closed them. Pull requests are never among them: in GraphQL they are lists of their own.
 */
import type { GraphQLResolveInfo } from 'graphql'
import { accountOf, guardOf } from './access.ts'
import { type Connection, countOnly, type PageArguments, pageByKey } from './connection.ts'
import type { Context, IssueThing } from './context.ts'
import type { Failure } from './failure.ts'

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

export const itemOrderKeys = {
  CREATED_AT: (item: { createdAt: number }) => item.createdAt,
  UPDATED_AT: (item: { updatedAt: number }) => item.updatedAt,
  COMMENTS: (item: { comments: number }) => item.comments,
}

const stateOf = ({ issue }: IssueThing): State => (issue.state === 'open' ? 'OPEN' : 'CLOSED')

export function pageIssues(
  things: readonly IssueThing[],
  args: IssueArguments,
  context: Context,
  info: GraphQLResolveInfo,
): Connection<IssueThing | Failure> {
  const { createdBy, since } = args.filterBy ?? {}
  const states = args.filterBy?.states ?? args.states
  const creator = createdBy ? context.world.byLogin(createdBy)?.id : undefined
  const rows = things.filter(
    (thing) =>
      (!states || states.includes(stateOf(thing))) &&
      (!since || thing.issue.updatedAt >= since) &&
      (!createdBy || thing.issue.authorId === creator),
  )
  const { field, direction } = args.orderBy ?? { field: 'CREATED_AT', direction: 'ASC' }
  const key = ({ issue }: IssueThing) => [itemOrderKeys[field](issue), issue.id]
  return pageByKey(rows, key, direction, args, (thing) => guardOf(context, thing.repo) ?? thing, info, context)
}

interface TimelineArguments extends PageArguments {
  readonly itemTypes?: readonly string[] | null
}

/** Of the whole timeline, the simulator knows the closing. */
function pageTimeline({ issue, repo }: IssueThing, args: TimelineArguments, context: Context, info: GraphQLResolveInfo) {
  const isAsked = args.itemTypes?.includes('CLOSED_EVENT') ?? true
  const rows: IssueThing[] = isAsked && issue.closedAt !== null ? [{ kind: 'ClosedEvent', issue, repo }] : []
  const page = pageByKey(
    rows,
    () => [issue.closedAt ?? 0, issue.id],
    'ASC',
    args,
    (thing) => thing,
    info,
    context,
  )
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
    state: stateOf,
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
