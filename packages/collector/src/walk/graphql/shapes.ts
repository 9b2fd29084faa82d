/** Parts that answers of GraphQL share. Times stay GitHub's own text, ids are numbers; what we did not ask for is dropped. */
import { z } from 'zod'

export const time = z.iso.datetime({ offset: true })
export const id = z.int().min(1)
export const count = z.int().min(0)
/** Long enough for every cursor and sha, short enough for a payload. */
export const word = z.string().min(1).max(500)
export const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().max(1_000).nullable() })
/** Not everybody has an id: an account may be gone, or a kind of actor without one. */
export const actor = z.object({ databaseId: id.nullish() }).nullish()

export const actorFields =
  '... on User { databaseId } ... on Bot { databaseId } ... on Organization { databaseId } ... on Mannequin { databaseId }'

export function actorId(found: z.output<typeof actor>): number | null {
  return found?.databaseId ?? null
}

/** GraphQL leaves nulls in a list where it could not answer. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.array(item.nullable()).transform((all) => all.filter((one) => one !== null))
}
