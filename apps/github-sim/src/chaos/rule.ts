/**
 * A rule of chaos: which requests it meets, and what then happens to them. It arrives over HTTP as well, so it has a schema.
 */
import { z } from 'zod'

export const troubles = [
  // Answers by their usual names, as GitHub words them.
  'server error',
  'bad gateway',
  'unavailable',
  'gateway timeout',
  'computing',
  'no content',
  'not found',
  'gone',
  'empty',
  'dmca',
  'tos',
  'sso',
  'ip',
  'permission',
  'login attempts',
  'bad credentials',
  'validation failed',
  'primary limit',
  'secondary limit',
  'secondary limit without retry-after',
  'abuse',
  // GraphQL errors in an answer with status 200.
  'RATE_LIMITED',
  'RATE_LIMIT',
  'RESOURCE_LIMITS_EXCEEDED',
  'graphql timeout',
  'insufficient scopes',
  // What the network or a broken server does.
  'cut off',
  'not json',
  'huge',
  'foreign link',
  'loop link',
  'latency',
  'hang up',
] as const
export type Trouble = (typeof troubles)[number]

export const chaosRule = z.strictObject({
  /** All that are given must fit; a path is a regular expression over path and query. */
  match: z
    .strictObject({
      path: z.string().optional(),
      operation: z.string().optional(),
      login: z.string().optional(),
      /** Only requests for pages larger than this. */
      pageAbove: z.number().int().optional(),
    })
    .default({}),
  trouble: z.enum(troubles),
  /** How often; without it, for ever. */
  times: z.number().int().positive().optional(),
  /** How likely, from the seed. */
  probability: z.number().min(0).max(1).optional(),
  /** For latency. */
  ms: z.number().int().nonnegative().optional(),
  /** For huge bodies; the default is 100 MB. */
  bytes: z.number().int().positive().optional(),
  retryAfterSeconds: z.number().int().positive().optional(),
})
export type ChaosRule = z.input<typeof chaosRule>
export type ParsedRule = z.output<typeof chaosRule>

export interface Target {
  readonly path: string
  readonly operation: string | null
  readonly login: string | undefined
  readonly pageSize: number | undefined
}

export function isHit(rule: ParsedRule, target: Target): boolean {
  const { path, operation, login, pageAbove } = rule.match
  if (path !== undefined && !new RegExp(path).test(target.path)) return false
  if (operation !== undefined && operation !== target.operation) return false
  if (login !== undefined && login.toLowerCase() !== target.login?.toLowerCase()) return false
  return pageAbove === undefined || (target.pageSize !== undefined && target.pageSize > pageAbove)
}
