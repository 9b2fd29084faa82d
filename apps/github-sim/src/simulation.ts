/**
 * The parts that a request can reach. Whoever answers requests takes this, and knows neither sockets nor who else answers.
 */
import type { SimClock } from './clock/clock.ts'
import type { World } from './world/world.ts'

export interface Simulation {
  readonly world: World
  readonly clock: SimClock
}
