/**
 * Fields that many routes share. What the database could not store is refused here, by name.
 */
import { z } from 'zod'

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

export const text = (charsMax: number): z.ZodString =>
  z.string().min(1).max(charsMax).refine(isStorable, 'contains a NUL character or half of a surrogate pair')

export const name = text(200)
export const id = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
/** In an address everything is text. */
export const idInUrl = z.coerce.number<string>().pipe(id)
export const flag = z.enum(['true', 'false']).transform((word) => word === 'true')
export const reason = text(1_000).describe('Why, for those who look at it later.')

/** A time in JSON; a Date inside. */
export const time = z.iso
  .datetime({ offset: true })
  .transform((iso) => new Date(iso))
  .describe('ISO 8601, e.g. 2026-01-31T12:00:00Z')

/** A duration as people write it, or milliseconds. */
export const duration = z
  .union([
    z.number().min(0).max(3_155_760_000_000),
    z.string().regex(/^\d{1,12}(\.\d{1,6})?(ms|s|m|h|d)$/, 'write 250ms, 2s, 10m, 1h, 7d or milliseconds'),
  ])
  .transform((given) => given as number | `${number}s`)
  .describe('250ms, 2s, 10m, 1h, 7d or milliseconds')

/** JSON that PostgreSQL takes. */
export const json = z
  .json()
  .refine(
    (value) => isStorable(JSON.stringify(value).replaceAll(/\\u0000/g, '\0')),
    'contains a NUL character or half of a surrogate pair',
  )

export const paging = (pageMax: number) => ({
  cursor: text(500).optional().describe('`next` of the page before.'),
  limit: z.coerce
    .number<string>()
    .pipe(z.int().min(1).max(pageMax))
    .optional()
    .describe('Rows of a page, 50 unless said otherwise.'),
})

export const emptyBody = z.union([z.undefined(), z.null(), z.strictObject({})]).optional()
