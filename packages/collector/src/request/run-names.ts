/** How the collector's runs are called where runs are listed; one of a name and user is under way at a time. */
export const runNames = { collect: 'collector.collect', shadow: 'collector.shadow', backfill: 'collector.backfill' } as const

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
