/**
 * Pages of a list: how many, where to go on, and how far it looked.
 *
 * A cursor is opaque and names the list it belongs to, so that one of another list is refused instead of answered with nonsense. It holds the
 * place where the last page ended, not a number of rows to skip: pages do not shift while jobs come and go.
 */
import { z } from 'zod'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { isStorable, unstorable } from '../support/text.ts'

export interface Page {
  /** `next` of the page before. */
  readonly cursor?: string | undefined
  /** 1 to 500, default 50. */
  readonly limit?: number | undefined
}

/** How far a list looked whose filter has no index of its own. */
export interface Looked {
  readonly rows: number
  /** When the oldest row that it looked at was made; undefined when it looked at all there are. */
  readonly until: Date | undefined
}

export interface Listed<T> {
  readonly items: readonly T[]
  /** Where the next page begins; undefined when nothing is left. A page may be short, even empty, and still have a next one: see `looked`. */
  readonly next: string | undefined
  readonly looked?: Looked
}

/** Rows that a page may look at before it gives up and answers what it has. */
export const lookRowsMax = 5_000

const limitMax = 500
const limitDefault = 50

const pageSchema = z.strictObject({
  cursor: z.string().max(1_000).optional(),
  limit: z.int().min(1).max(limitMax).optional(),
})

/** The limit, and the place where the page begins as `schema` reads it; undefined at the start. */
export function readPage<At>(list: string, page: Page, schema: z.ZodType<At>): { limit: number; at: At | undefined } {
  const { cursor, limit = limitDefault } = checkFields(pageSchema, page)
  return { limit, at: cursor === undefined ? undefined : readCursor(list, cursor, schema) }
}

export function writeCursor(list: string, at: unknown): string {
  return Buffer.from(JSON.stringify([list, at])).toString('base64url')
}

function readCursor<At>(list: string, cursor: string, schema: z.ZodType<At>): At {
  const read = z.tuple([z.literal(list), schema]).safeParse(parse(Buffer.from(cursor, 'base64url').toString()))
  if (!read.success)
    throw new SluiceError('INVALID_OPTION', { field: 'cursor', problem: `is none of this list; use \`next\` of its last page` })
  return read.data[1]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const idPlace = z.int().min(1)
/** What could not be stored is no name of anything, and PostgreSQL does not take it. */
export const nameText = z.string().max(500).refine(isStorable, unstorable)
export const rowId = z.int().min(1)
