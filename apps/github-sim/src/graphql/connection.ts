/**
 * Connections: one page of a list, with GitHub's rules for asking.
 *
 * A cursor holds the sort key and the id of its row, not its place, as GitHub's do: rows that come or go elsewhere do not
 * shift a walk, but a row whose key changes during the walk can be met twice or jumped over. Whoever collects must cope.
 */
import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql'
import type { Context } from './context.ts'
import { Failure } from './failure.ts'

export interface PageArguments {
  readonly first?: number | null
  readonly last?: number | null
  readonly after?: string | null
  readonly before?: string | null
}

type Key = readonly (string | number)[]

export interface Connection<T> {
  readonly items: readonly T[]
  readonly totalCount: number
  readonly cursorOf: (index: number) => string
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** Pages through rows in the order of `key`, which must end in something unique. */
export function pageByKey<Row, T>(
  rows: readonly Row[],
  key: (row: Row) => Key,
  direction: 'ASC' | 'DESC',
  args: PageArguments,
  toThing: (row: Row) => T,
  info: GraphQLResolveInfo,
  context: Context,
): Connection<T> {
  const size = askedSize(args, info, context)
  const sign = direction === 'ASC' ? 1 : -1
  const keyed = rows.map((row) => ({ row, key: key(row) }))
  const after = args.after ? readCursor(args.after) : undefined
  const before = args.before ? readCursor(args.before) : undefined
  const inside = keyed.filter(
    (entry) =>
      (after === undefined || compare(entry.key, after) * sign > 0) &&
      (before === undefined || compare(entry.key, before) * sign < 0),
  )
  if (size > 0) inside.sort((a, b) => compare(a.key, b.key) * sign)
  const fromEnd = args.last !== null && args.last !== undefined
  const page = fromEnd ? inside.slice(Math.max(0, inside.length - size)) : inside.slice(0, size)
  const more = inside.length > page.length
  return {
    items: page.map(({ row }) => toThing(row)),
    totalCount: rows.length,
    cursorOf: (index) => writeCursor(page[index]?.key ?? []),
    hasNextPage: fromEnd ? before !== undefined : more,
    hasPreviousPage: fromEnd ? more : after !== undefined,
  }
}

/** Pages through a list that never changes, by place: a history below one commit. */
export function pageByPlace<Row, T>(
  rows: readonly Row[],
  anchor: string,
  args: PageArguments,
  toThing: (row: Row) => T,
  info: GraphQLResolveInfo,
  context: Context,
): Connection<T> {
  const size = askedSize(args, info, context)
  const low = args.after ? readPlace(args.after) + 1 : 0
  const high = Math.min(rows.length, args.before ? readPlace(args.before) : rows.length)
  const fromEnd = args.last !== null && args.last !== undefined
  const start = fromEnd ? Math.max(low, high - size) : low
  const end = fromEnd ? high : Math.min(high, low + size)
  return {
    items: rows.slice(start, end).map(toThing),
    totalCount: rows.length,
    cursorOf: (index) => `${anchor} ${start + index}`,
    hasNextPage: end < rows.length,
    hasPreviousPage: start > 0,
  }
}

/** A list whose rows the simulator does not have, only their number. */
export function countOnly(count: number, args: PageArguments, info: GraphQLResolveInfo, context: Context): Connection<never> {
  return {
    ...pageByKey(
      [],
      () => [],
      'ASC',
      args,
      (row: never) => row,
      info,
      context,
    ),
    totalCount: count,
  }
}

const connectionTypes = [
  'RepositoryConnection',
  'IssueConnection',
  'PullRequestConnection',
  'CommitHistoryConnection',
  'CommitConnection',
  'IssueTimelineItemsConnection',
  'FollowerConnection',
  'StargazerConnection',
  'IssueCommentConnection',
]

const fields = {
  nodes: ({ items }: Connection<unknown>) => items,
  edges: ({ items, cursorOf }: Connection<unknown>) => items.map((node, index) => ({ node, cursor: cursorOf(index) })),
  pageInfo: ({ items, cursorOf, hasNextPage, hasPreviousPage }: Connection<unknown>) => ({
    hasNextPage,
    hasPreviousPage,
    startCursor: items.length > 0 ? cursorOf(0) : null,
    endCursor: items.length > 0 ? cursorOf(items.length - 1) : null,
  }),
  filteredCount: ({ totalCount }: Connection<unknown>) => totalCount,
  pageCount: ({ items }: Connection<unknown>) => items.length,
}

export const connectionFields = Object.fromEntries(connectionTypes.map((name) => [name, fields]))

/** Only a query for rows must say how many; one for `totalCount` alone need not. */
function askedSize({ first, last }: PageArguments, info: GraphQLResolveInfo, context: Context): number {
  context.list()
  const name = info.fieldName
  const size = first ?? last
  if (size === null || size === undefined) {
    if (!asksRows(info)) return 0
    throw new Failure(
      'MISSING_PAGINATION_BOUNDARIES',
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
    )
  }
  if (typeof first === 'number' && typeof last === 'number')
    throw new Failure(
      'UNPROCESSABLE',
      `Passing both \`first\` and \`last\` to paginate the \`${name}\` connection is not supported.`,
    )
  const bound = typeof first === 'number' ? 'first' : 'last'
  if (size < 1) throw new Failure('UNPROCESSABLE', `\`${bound}\` on the \`${name}\` connection cannot be less than one.`)
  return size
}

function asksRows(info: GraphQLResolveInfo): boolean {
  const within = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value === 'nodes' || selection.name.value === 'edges'
      if (selection.kind === Kind.INLINE_FRAGMENT) return within(selection.selectionSet)
      return within(info.fragments[selection.name.value]?.selectionSet)
    }) ?? false
  return info.fieldNodes.some((node) => within(node.selectionSet))
}

const mark = 'cursor:v2:'
const writeCursor = (key: Key) => Buffer.from(mark + JSON.stringify(key)).toString('base64')

function readCursor(cursor: string): Key {
  const text = Buffer.from(cursor, 'base64').toString()
  if (text.startsWith(mark) && writeCursor(parseKey(text)) === cursor) return parseKey(text)
  throw invalidCursor(cursor)
}

function parseKey(text: string): Key {
  try {
    const key: unknown = JSON.parse(text.slice(mark.length))
    return Array.isArray(key) ? (key as Key) : []
  } catch {
    return []
  }
}

function readPlace(cursor: string): number {
  const found = /^[0-9a-f]{40} (\d+)$/.exec(cursor)
  if (!found) throw invalidCursor(cursor)
  return Number(found[1])
}

const invalidCursor = (cursor: string) =>
  new Failure('INVALID_CURSOR_ARGUMENTS', `\`${cursor}\` does not appear to be a valid cursor.`)

function compare(a: Key, b: Key): number {
  for (let at = 0; at < a.length; at++) {
    const left = a[at] ?? 0
    const right = b[at] ?? 0
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}
