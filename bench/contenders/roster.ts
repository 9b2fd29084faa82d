/**
 * Who takes part, in the order of the first round. A process loads only the contender it runs, so that nobody's memory or
 * start-up time is charged to another.
 */
import type { Contender } from './contender.ts'

export interface Entry {
  readonly name: string
  readonly side: 'ours' | 'floor' | 'peer'
  readonly store: 'postgres' | 'redis'
  readonly settings: 'default' | 'tuned'
  load(): Promise<Contender>
}

export const roster: readonly Entry[] = [
  ...both('sluice', 'ours', 'postgres', () => import('./sluice.ts')),
  { name: 'floor', side: 'floor', store: 'postgres', settings: 'tuned', load: async () => (await import('./floor.ts')).floor },
  ...both('graphile-worker', 'peer', 'postgres', () => import('./graphile-worker.ts')),
  ...both('pg-boss', 'peer', 'postgres', () => import('./pg-boss.ts')),
  ...both('bullmq-redis', 'peer', 'redis', () => import('./bullmq-redis.ts')),
  ...both('bullmq-postgres', 'peer', 'postgres', () => import('./bullmq-postgres.ts')),
]

/** Of ours, for benches that compare us with ourselves. */
const variants: readonly Pick<Entry, 'name' | 'load'>[] = [
  { name: 'sluice on redis', load: async () => (await import('./sluice.ts')).onRedis },
  { name: 'sluice in lanes', load: async () => (await import('./sluice.ts')).inLanes },
]

export async function contenderNamed(name: string): Promise<Contender> {
  const found = [...roster, ...variants].find((entry) => entry.name === name)
  if (!found) throw new Error(`no contender is named "${name}"; there are ${roster.map((entry) => entry.name).join(', ')}`)
  return found.load()
}

function both(
  name: string,
  side: Entry['side'],
  store: Entry['store'],
  module: () => Promise<{ asDocumented: Contender; tuned: Contender }>,
): Entry[] {
  return [
    { name: `${name} tuned`, side, store, settings: 'tuned', load: async () => (await module()).tuned },
    { name: `${name} default`, side, store, settings: 'default', load: async () => (await module()).asDocumented },
  ]
}
