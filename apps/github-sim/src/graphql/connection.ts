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

type Key = readonly [value: string | number, id: number]

/** What a list is sorted by; equal values go by id. */
export interface Order<Row> {
  readonly value: (row: Row) => string | number
  readonly id: (row: Row) => number
  readonly direction: 'ASC' | 'DESC'
}

export interface Connection<T> {
  readonly items: readonly T[]
  readonly totalCount: number
  readonly cursorOf: (index: number) => string
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** Pages through rows, in whatever order they come, in the order that is asked for. */
export function pageByKey<Row, T>(
  rows: readonly Row[],
  { value, id, direction }: Order<Row>,
  args: PageArguments,
  toThing: (row: Row) => T,
  info: GraphQLResolveInfo,
  context: Context,
): Connection<T> {
  const size = askedSize(args, info, context)
  const sign = direction === 'ASC' ? 1 : -1
  const keyOf = (row: Row): Key => [value(row), id(row)]
  const against = (row: Row, key: Key) => sign * compare(value(row), id(row), key[0], key[1])
  const after = args.after ? readCursor(args.after) : undefined
  const before = args.before ? readCursor(args.before) : undefined
  const inside =
    after || before ? rows.filter((row) => (!after || against(row, after) > 0) && (!before || against(row, before) < 0)) : rows
  const fromEnd = typeof args.last === 'number'
  const turn = fromEnd ? -sign : sign
  const page = takeFirst(inside, size, (a, b) => turn * compare(value(a), id(a), value(b), id(b)))
  if (fromEnd) page.reverse()
  const more = inside.length > page.length
  return {
    items: page.map(toThing),
    totalCount: rows.length,
    cursorOf: (index) => writeCursor(keyOf(page[index] as Row)),
    hasNextPage: fromEnd ? before !== undefined : more,
    hasPreviousPage: fromEnd ? more : after !== undefined,
  }
}

/** The first few in order, without sorting the many: most rows are only compared with the last one that was kept. */
function takeFirst<Row>(rows: readonly Row[], size: number, order: (a: Row, b: Row) => number): Row[] {
  const kept: Row[] = []
  if (size === 0) return kept
  for (const row of rows) {
    if (kept.length === size && order(row, kept[size - 1] as Row) >= 0) continue
    let low = 0
    let high = kept.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (order(row, kept[middle] as Row) < 0) high = middle
      else low = middle + 1
    }
    kept.splice(low, 0, row)
    if (kept.length > size) kept.pop()
  }
  return kept
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
  const fromEnd = typeof args.last === 'number'
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
  return { ...pageByPlace([], '', args, (row: never) => row, info, context), totalCount: count }
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
  const key = text.startsWith(mark) ? parseKey(text.slice(mark.length)) : undefined
  if (key && writeCursor(key) === cursor) return key
  throw invalidCursor(cursor)
}

function parseKey(text: string): Key | undefined {
  try {
    const [value, id] = JSON.parse(text) as unknown[]
    return (typeof value === 'string' || typeof value === 'number') && typeof id === 'number' ? [value, id] : undefined
  } catch {
    return undefined
  }
}

function readPlace(cursor: string): number {
  const found = /^[0-9a-f]{40} (\d+)$/.exec(cursor)
  if (!found) throw invalidCursor(cursor)
  return Number(found[1])
}

const invalidCursor = (cursor: string) =>
  new Failure('INVALID_CURSOR_ARGUMENTS', `\`${cursor}\` does not appear to be a valid cursor.`)

function compare(valueA: string | number, idA: number, valueB: string | number, idB: number): number {
  if (valueA !== valueB) return valueA < valueB ? -1 : 1
  return idA - idB
}
