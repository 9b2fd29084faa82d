/**
 * Which walks share a call.
 *
 * GitHub counts a GraphQL call by the connections it could open, a hundred to a point, so many short lists cost as much as one. A batch is filled until one
 * more list would cost a second point or make the answer heavy; long lists go alone with whole pages.
 */

export interface Batching {
  /** Lists in one call. */
  readonly lists: number
  /** Rows in one call. */
  readonly rows: number
  /** Connections that each row opens by itself. */
  readonly perRow: number
}

/** The largest sum of connections that still rounds to one point. */
const connectionsMax = 149

export const commitBatching: Batching = { lists: 10, rows: 200, perRow: 0 }
export const issueBatching: Batching = { lists: 20, rows: 140, perRow: 1 }
export const pullBatching: Batching = { lists: 20, rows: 300, perRow: 0 }

/** First fit, the longest first, so that short lists fill what long ones leave. `first` is the page that a list asks for. */
export function inBatches<T extends { readonly first: number }>(
  lists: readonly T[],
  { lists: listsMax, rows, perRow }: Batching,
): T[][] {
  const batches: { lists: T[]; rows: number }[] = []
  for (const list of lists.toSorted((a, b) => b.first - a.first)) {
    const fitting = batches.find((batch) => {
      const together = batch.rows + list.first
      const connections = batch.lists.length + 1 + together * perRow
      return batch.lists.length < listsMax && together <= rows && connections <= connectionsMax
    })
    if (fitting) {
      fitting.lists.push(list)
      fitting.rows += list.first
    } else batches.push({ lists: [list], rows: list.first })
  }
  return batches.map((batch) => batch.lists)
}

/** What to ask instead of a call that was too heavy: fewer lists, then smaller pages. Nothing at the floor. */
export function lighten<T extends { readonly first: number }>(
  lists: readonly T[],
  halve: (pageSize: number) => number | undefined,
): T[][] | undefined {
  if (lists.length > 1) {
    const middle = Math.ceil(lists.length / 2)
    return [lists.slice(0, middle), lists.slice(middle)]
  }
  const [list] = lists
  const first = list && halve(list.first)
  return list && first !== undefined ? [[{ ...list, first }]] : undefined
}
