/** Where a walk over the user's repositories is. */
import { z } from 'zod'
import { discoveryPage } from './graphql/discovery.ts'
import { scope } from './list-item.ts'

export const repositoriesPayload = z.object({
  ...scope,
  user: z.string().min(1).max(200),
  strategy: z.enum(['graphql', 'rest']),
  by: z.enum(['PUSHED_AT', 'UPDATED_AT']),
  first: z.int().min(1).max(100).default(discoveryPage),
  /** A cursor, or the link of a list by REST. */
  after: z.string().max(2_000).optional(),
  trail: z.object({ mark: z.string().max(100), steps: z.int(), until: z.int() }).optional(),
  start: z.iso.datetime({ offset: true }).optional(),
})
export type RepositoriesPayload = z.output<typeof repositoriesPayload>
