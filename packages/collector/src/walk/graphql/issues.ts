/** Issues in the order in which they were made, which does not shift while it is read; `since` leaves out those that nobody touched. */
import { z } from 'zod'
import type { IssueRow } from '../../issue/issue.ts'
import { batchQuery, type ListItem } from './batch.ts'
import { actor, actorFields, actorId, id, listOf, pageInfo, time } from './shapes.ts'

export interface IssuesItem extends ListItem {
  readonly since?: string | undefined
}

export function issuesQuery(items: readonly IssuesItem[]) {
  return batchQuery('Issues', items, ({ first, since }, at) => ({
    text: `issues(first: ${first}, after: $a${at}, orderBy: { field: CREATED_AT, direction: ASC }${since ? `, filterBy: { since: $s${at} }` : ''}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        databaseId number title state createdAt updatedAt closedAt author { ${actorFields} }
        timelineItems(itemTypes: [CLOSED_EVENT], last: 1) { nodes { ... on ClosedEvent { actor { ${actorFields} } } } }
      }
    }`,
    variables: since ? { [`s${at}:DateTime`]: since } : {},
  }))
}

const issue = z.object({
  databaseId: id,
  number: id,
  title: z.string(),
  state: z.enum(['OPEN', 'CLOSED']),
  createdAt: time,
  updatedAt: time,
  closedAt: time.nullable(),
  author: actor,
  timelineItems: z.object({ nodes: listOf(z.object({ actor: actor })).nullish() }),
})

export const issuesAnswer = z.object({ issues: z.object({ pageInfo, nodes: listOf(issue) }) })

export function issueRows(nodes: readonly z.output<typeof issue>[]): IssueRow[] {
  return nodes.map((node) => ({
    number: node.number,
    id: node.databaseId,
    title: node.title,
    state: node.state === 'OPEN' ? 'open' : 'closed',
    authorId: actorId(node.author),
    comments: null,
    createdAt: node.createdAt,
    updatedAt: node.updatedAt,
    closedAt: node.closedAt,
    // One that was opened again keeps the event of its last closing.
    closedById: node.state === 'CLOSED' ? actorId(node.timelineItems.nodes?.at(-1)?.actor) : null,
    isPullRequest: false,
  }))
}
