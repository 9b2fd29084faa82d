/**
 * Fields that many routes share. What the database could not store is refused here, by name.
 */
import { z } from 'zod'

const unstorable = 'contains a NUL character or half of a surrogate pair'

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

export const text = (charsMax: number): z.ZodString => z.string().min(1).max(charsMax).refine(isStorable, unstorable)

export const name = text(200)
export const id = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
/** In an address everything is text. */
export const idInUrl = z.coerce.number<string>().int().min(1).max(Number.MAX_SAFE_INTEGER)
export const countInUrl = (min: number, max: number) => z.coerce.number<string>().int().min(min).max(max)
export const flag = z.enum(['true', 'false']).transform((word) => word === 'true')

export const byId = z.strictObject({ id: idInUrl })
export const byName = z.strictObject({ name })

/** A time in JSON; a Date inside. */
export const time = z.iso
  .datetime({ offset: true, error: 'write a time as 2026-01-31T12:00:00Z' })
  .transform((iso) => new Date(iso))
  .refine((date) => !Number.isNaN(date.getTime()), 'is no time')

/** A duration as people write it, or milliseconds; at most a hundred years. */
const asDuration = 'write 250ms, 2s, 10m, 1h, 7d or milliseconds'
export const duration = z
  .union([z.number().min(0).max(3_155_760_000_000), z.string().regex(/^\d{1,12}(?:\.\d{1,6})?(?:ms|s|m|h|d)$/, asDuration)], {
    error: asDuration,
  })
  .transform((given) => given as number | `${number}s`)

const depthMax = 100

/** JSON that PostgreSQL takes, and that nobody's stack overflows on. */
export const json = z
  .unknown()
  .refine((value) => !isDeeper(value, depthMax), `is nested deeper than ${depthMax} levels`)
  .refine((value) => isDeeper(value, depthMax) || isStorable(readable(value)), unstorable)

/** Level by level, not by calling itself: what it guards against is depth. */
function isDeeper(value: unknown, levelsMax: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= levelsMax; depth += 1) {
    level = level.flatMap((one): unknown[] => (typeof one === 'object' && one !== null ? Object.values(one) : []))
    if (level.length === 0) return false
  }
  return true
}

/** Escapes that stand for what cannot be stored, undone: they are what `isStorable` looks for. */
function readable(value: unknown): string {
  return (JSON.stringify(value) ?? '').replaceAll(/(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F]..)/g, '\0')
}

/** JSON inside an address, as text. */
export const jsonInUrl = text(4_000)
  .transform((given, context): unknown => {
    try {
      return JSON.parse(given)
    } catch {
      context.addIssue({ code: 'custom', message: 'is no JSON' })
      return z.NEVER
    }
  })
  .pipe(json)

export const paging = {
  cursor: text(1_000).exactOptional().describe('`next` of the page before.'),
  limit: countInUrl(1, 500).exactOptional().describe('Rows of a page: 1 to 500, 50 when left out.'),
}

/** A page, with where to go on. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().optional().describe('Cursor of the next page; not there on the last one.'),
    looked: z
      .object({
        rows: z.int(),
        until: z.date().optional().describe('When the oldest row that it looked at was made; not there when it looked at all.'),
      })
      .optional()
      .describe(
        'How far it looked, where the filter has no index of its own. A page may be short, even empty, and still have a next one.',
      ),
  })

const reason = text(1_000).exactOptional().describe('Why, for those who look at it later.')

/** Bodies of deeds that need none. */
export const nothing = z.strictObject({}).nullish()
export const withReason = z.strictObject({ reason }).nullish()
export const untilWhen = z.strictObject({ until: time.describe('Nothing starts before this time.') })

export const done = z.object({ done: z.literal(true) }).meta({ id: 'Done' })
export const resumed = z.object({ resumed: z.boolean().describe('False when it was not paused.') }).meta({ id: 'Resumed' })

/** The page out of a query: what is left is the filter. */
export function splitPage<Q extends { cursor?: string; limit?: number }>({ cursor, limit, ...filter }: Q) {
  return { filter, page: { ...(cursor === undefined ? {} : { cursor }), ...(limit === undefined ? {} : { limit }) } }
}
