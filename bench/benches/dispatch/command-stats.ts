/**
 * What Redis was asked to do since its counters were set back, by command; what scripts called is among it.
 */
import type { Redis } from 'ioredis'

export async function callsOf(client: Redis): Promise<Record<string, number>> {
  const told = await client.info('commandstats')
  return Object.fromEntries([...told.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(([, name, calls]) => [name, Number(calls)]))
}
