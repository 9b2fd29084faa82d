/**
 * The body of a GraphQL request, checked at the door.
 */
import { z } from 'zod'

const shape = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
})

export type ReadRequest =
  | {
      readonly type: 'ok'
      readonly query: string
      readonly variables: Readonly<Record<string, unknown>>
      readonly operationName: string | null
    }
  | { readonly type: 'refused'; readonly message: string }

export function readRequest(body: unknown): ReadRequest {
  const read = shape.safeParse(body)
  if (read.success) {
    const { query, variables, operationName } = read.data
    return { type: 'ok', query, variables: variables ?? {}, operationName: operationName ?? null }
  }
  if (typeof body !== 'object' || body === null) return { type: 'refused', message: 'Problems parsing JSON' }
  return read.error.issues.some(({ path }) => path[0] === 'query')
    ? { type: 'refused', message: 'A query attribute must be specified and must be a string.' }
    : { type: 'refused', message: 'Variables must be an object, and the name of the operation a string.' }
}
