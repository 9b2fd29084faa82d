/** What a walk over commits carries from page to page, by either strategy. */
import { z } from 'zod'
import { listItem, scope } from './list-item.ts'
import { restPlace } from './rest/shapes.ts'

const sha = z.string().min(1).max(100)
const walk = z.object({
  head: sha,
  old: z.object({ head: sha, total: z.int().min(0) }).optional(),
  seenOld: z.boolean(),
  seen: z.int().min(0),
  fresh: z.int().min(0),
  open: z.array(sha).max(1_000).readonly().optional(),
})
const item = z.object({ ...listItem, head: sha, bare: z.boolean().optional(), walk })
const byGraphql = z.object({ ...scope, items: z.array(item).min(1).max(50) })
const byRest = z.object({
  ...scope,
  rest: restPlace.extend({ changedAt: z.iso.datetime({ offset: true }), walk: walk.optional() }),
})

export type CommitsItem = z.output<typeof item>
export type CommitsPayload = z.output<typeof byGraphql>
export type RestCommitsPayload = z.output<typeof byRest>

export const commitsPayload = z.union([byGraphql, byRest])
