/**
 * The parts that a request can reach. Whoever answers requests takes this, and knows neither sockets nor who else answers.
 */
import type { Budgets } from './budget/budgets.ts'
import type { SecondaryLimits } from './budget/secondary.ts'
import type { Chaos } from './chaos/chaos.ts'
import type { SimClock } from './clock/clock.ts'
import type { Oracle } from './oracle/oracle.ts'
import type { LoginAttempts } from './token/login-attempts.ts'
import type { Tokens } from './token/tokens.ts'
import type { World } from './world/world.ts'

export interface Simulation {
  readonly world: World
  readonly clock: SimClock
  readonly budgets: Budgets
  readonly secondary: SecondaryLimits
  readonly tokens: Tokens
  readonly loginAttempts: LoginAttempts
  readonly oracle: Oracle
  readonly chaos: Chaos
  readonly latencyMs: number
  /** From this many issues on, pages can only be reached by cursor. */
  readonly deepPageMax: number
  /** By how much the announced end of a window wavers. */
  readonly resetJitterSeconds: number
  /** How many commits with line counts one GraphQL query may ask for. */
  readonly heavyNodesMax?: number | undefined
}
