/**
 * The primary limits: so many units a window, for each account and resource.
 *
 * A window begins with the first request that costs something, and ends on a whole second, because the header that announces
 * the end knows nothing finer; so a window is up to one second longer than asked for. Who is not authenticated is counted by
 * address.
 */
export type Resource = 'core' | 'graphql' | 'search'
export type Payer = number | string

export interface BudgetOptions {
  readonly windowMs: number
  readonly limit: number
  readonly graphqlLimit: number
}

export interface BudgetState {
  readonly resource: Resource
  readonly limit: number
  readonly remaining: number
  readonly used: number
  /** Milliseconds, on a whole second. */
  readonly resetAt: number
}

const minuteMs = 60_000
const unauthenticated = { core: 60, graphql: 0, search: 10 } as const
const searchLimit = 30

export class Budgets {
  readonly #options: BudgetOptions
  readonly #windows = new Map<string, { used: number; resetAt: number }>()

  constructor(options: BudgetOptions) {
    this.#options = options
  }

  state(payer: Payer, resource: Resource, now: number): BudgetState {
    const limit = this.#limit(payer, resource)
    const window = this.#windows.get(`${resource} ${payer}`)
    if (!window || window.resetAt <= now) return { resource, limit, remaining: limit, used: 0, resetAt: this.#end(resource, now) }
    return { resource, limit, remaining: Math.max(0, limit - window.used), used: window.used, resetAt: window.resetAt }
  }

  /** Spends the units, or nothing if that many are not left. */
  charge(payer: Payer, resource: Resource, units: number, now: number): { readonly paid: boolean; readonly state: BudgetState } {
    const before = this.state(payer, resource, now)
    if (units > before.remaining) return { paid: false, state: before }
    if (units === 0) return { paid: true, state: before }
    const used = before.used + units
    this.#windows.set(`${resource} ${payer}`, { used, resetAt: before.resetAt })
    return { paid: true, state: { ...before, used, remaining: before.limit - used } }
  }

  /** Ends the account's windows, as if their time were over. */
  refill(payer: Payer): void {
    for (const resource of ['core', 'graphql', 'search'] as const) this.#windows.delete(`${resource} ${payer}`)
  }

  #limit(payer: Payer, resource: Resource): number {
    if (typeof payer === 'string') return unauthenticated[resource]
    return resource === 'search' ? searchLimit : resource === 'graphql' ? this.#options.graphqlLimit : this.#options.limit
  }

  #end(resource: Resource, now: number): number {
    const length = resource === 'search' ? Math.min(minuteMs, this.#options.windowMs) : this.#options.windowMs
    return Math.ceil((now + length) / 1000) * 1000
  }
}

/** GitHub's own reset wavers by a second between calls; `jitterSeconds` lets it. */
export function budgetHeaders(state: BudgetState, jitterSeconds: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(state.limit),
    'x-ratelimit-remaining': String(state.remaining),
    'x-ratelimit-used': String(state.used),
    'x-ratelimit-reset': String(state.resetAt / 1000 + jitterSeconds),
    'x-ratelimit-resource': state.resource,
  }
}
