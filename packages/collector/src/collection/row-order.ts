/**
 * Rows of a page in the order of their keys, each key once.
 *
 * Everybody locks rows in the same order, so that two pages that share rows wait for each other instead of dying of a deadlock. And a list that shifts
 * while it is read shows a row twice, which one statement may not store twice: the last one is kept, unless `newer` knows better.
 */
type Key = string | number

export function inKeyOrder<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key | readonly Key[],
  newer: (row: Row, than: Row) => boolean = () => true,
): Row[] {
  const byKey = new Map<string, { key: readonly Key[]; row: Row }>()
  for (const row of rows) {
    const given = keyOf(row)
    const key: readonly Key[] = typeof given === 'object' ? given : [given]
    const held = byKey.get(key.join(' '))
    if (!held || newer(row, held.row)) byKey.set(key.join(' '), { key, row })
  }
  return [...byKey.values()].toSorted((a, b) => compare(a.key, b.key)).map(({ row }) => row)
}

function compare(a: readonly Key[], b: readonly Key[]): number {
  for (const [at, part] of a.entries()) {
    const other = b[at] as Key
    if (part !== other) return part < other ? -1 : 1
  }
  return 0
}
