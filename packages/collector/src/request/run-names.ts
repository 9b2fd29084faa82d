/** How the collector's runs are called where runs are listed; one of a name and user is under way at a time. */
export const runNames = {
  collect: 'collector.collect',
  /** Two strategies are compared side by side, so each has a name of its own. */
  shadowGraphql: 'collector.shadow-graphql',
  shadowRest: 'collector.shadow-rest',
  backfill: 'collector.backfill',
} as const

export function shadowNameOf(strategy: 'graphql' | 'rest'): string {
  return strategy === 'rest' ? runNames.shadowRest : runNames.shadowGraphql
}

/** The owner of a user's jobs, lanes and runs. */
export function ownerOf(userId: number): string {
  return String(userId)
}

export function laneOf(userId: number, resource: 'core' | 'graphql'): string {
  return `github:${userId}:${resource}`
}

/** Where the engine keeps the user's token. */
export function secretOf(userId: number): string {
  return `github:${userId}`
}

/** A run in one of these is under way. */
export const activeStates = ['created', 'planning', 'running', 'finalizing'] as const
