/**
 * Lists whose rows are numbered as they come, newest first, in the engine's pages.
 */
import { idPlace, type Listed, type Page, readPage, writeCursor } from '@sluice/engine'

export function readNumbered(list: string, { cursor, limit }: Page): { before: number; limit: number } {
  const page = readPage(list, { cursor, limit }, idPlace)
  return { before: page.at ?? Number.MAX_SAFE_INTEGER, limit: page.limit }
}

/** Asked for one row more than the page has, so that a full last page is known to be the last. */
export function toPage<T>(list: string, rows: readonly T[], limit: number, numberOf: (row: T) => number): Listed<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? writeCursor(list, numberOf(last)) : undefined }
}
