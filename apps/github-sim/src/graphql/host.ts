/**
 * What GraphQL needs from the simulator around it, and what it lets the simulator's chaos do to an answer. The simulator
 * fits this shape; nothing else of it is known here.
 */
import type { World } from '../world/world.ts'

export interface Host {
  readonly world: World
  readonly budgets: { state(accountId: number, resource: 'graphql', now: number): BudgetReading }
  /**
   * How many commits GitHub would diff for one query. Line counts of those above are refused one by one; at twice as many
   * the whole query times out. Undefined: no limit.
   */
  readonly heavyNodesMax?: number | undefined
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
  /** Commits whose line counts are asked for, if all pages are full. */
  readonly heavyNodes: number
}

export type GraphqlTrap =
  | { readonly trap: 'rate limited'; readonly form: 'RATE_LIMITED' | 'RATE_LIMIT' }
  | { readonly trap: 'timeout'; readonly status: 200 | 502 | 504 }
  | { readonly trap: 'resource limits' }
  | { readonly trap: 'insufficient scopes'; readonly granted: readonly string[]; readonly needed: readonly string[] }

export type ChaosFor = (operation: string | undefined, estimate: Estimate) => GraphqlTrap | undefined
