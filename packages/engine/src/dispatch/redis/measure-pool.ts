/**
 * What Redis holds of a pool, for people.
 */
import type { PoolInDispatch } from '../dispatcher.ts'
import type { Client } from './connection.ts'
import { runScript } from './scripts.ts'

export async function measurePool(client: Client, prefix: string, pool: string): Promise<PoolInDispatch> {
  const pairs = await runScript<(string | number)[]>(client, 'measure', prefix, [])
  const count = (name: string): number => Number(pairs[pairs.indexOf(name) + 1])
  return {
    pool,
    length: count('length'),
    pending: count('pending'),
    lag: count('lag'),
    delayed: count('delayed'),
    parked: count('parked'),
    takenOver: count('takenOver'),
  }
}
