/**
 * What GraphQL needs from the simulator around it, and what it lets the simulator's chaos do to an answer. The simulator
 * fits this shape; nothing else of it is known here.
 */
import type { World } from '../world/world.ts'

export interface Host {
  readonly world: World
  readonly budgets: { read(accountId: number, resource: 'graphql'): BudgetReading }
  readonly chaos: { chaosFor(operation: string | undefined, estimate: Estimate): GraphqlTrap | undefined }
}

export interface BudgetReading {
  readonly limit: number
  readonly remaining: number
  readonly used: number
  readonly resetAt: number
}

/** What a query will cost and weigh, known before it runs. */
export interface Estimate {
  readonly points: number
  readonly nodes: number
  readonly pageSizeMax: number
  /** Commits whose line counts are asked for: GitHub has to diff each of them. */
  readonly heavyNodes: number
}

export type GraphqlTrap =
  | { readonly trap: 'rate limited'; readonly form: 'RATE_LIMITED' | 'RATE_LIMIT' }
  | { readonly trap: 'timeout'; readonly status: 200 | 502 | 504 }
  | { readonly trap: 'resource limits' }
  /** The compute model: line counts of more commits than this are refused, one by one. */
  | { readonly trap: 'heavy nodes'; readonly max: number }
  | { readonly trap: 'insufficient scopes'; readonly granted: readonly string[]; readonly needed: readonly string[] }
