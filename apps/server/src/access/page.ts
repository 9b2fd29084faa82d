/**
 * Lists that come in pages, newest first. The cursor says after which row the next page starts; what is in it is nobody's business but ours.
 */
import { SluiceError } from '@sluice/engine'

export interface Page {
  readonly cursor?: string
  /** 1 to 500; 50 when left out. */
  readonly limit?: number
}

export interface Listed<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; nothing on the last one. */
  readonly next: string | undefined
}

const limitMax = 500

export function readPage({ cursor, limit = 50 }: Page): { before: number; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw new SluiceError('INVALID_OPTION', { field: 'limit', problem: `must be a whole number from 1 to ${limitMax}` })
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(/^[1-9]\d{0,14}$/.exec(cursor)?.[0])
  if (Number.isNaN(before))
    throw new SluiceError('INVALID_OPTION', {
      field: 'cursor',
      problem: 'is not one of ours; take it from `next` of the page before',
    })
  return { before, limit }
}

/** Asked for one row more than the page has, so that a full last page is known to be the last. */
export function toPage<T>(rows: readonly T[], limit: number, numberOf: (row: T) => number): Listed<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? String(numberOf(last)) : undefined }
}
