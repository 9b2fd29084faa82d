/** The state of all budgets, for nothing. */
import type { Resource } from '../budget/budgets.ts'
import { type Ask, ok, type Reply } from './ask.ts'

export function rateLimit(ask: Ask): Reply {
  const show = (resource: Resource) => {
    const { limit, remaining, used, resetAt } = ask.budgets.state(ask.payer, resource, ask.now)
    return { limit, used, remaining, reset: resetAt / 1000 }
  }
  const core = show('core')
  const resources = { core, search: show('search'), graphql: show('graphql') }
  return ok(ask.version === '2026-03-10' ? { resources } : { resources, rate: core })
}
