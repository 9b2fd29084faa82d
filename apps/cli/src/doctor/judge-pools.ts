/**
 * Jobs that wait in a pool which no live process serves. They wait for ever, and everything else looks well: a pool is only a name, so a typing error makes one.
 */
import type { SeenPool } from '@sluice/engine'
import type { Finding } from './findings.ts'

export function judgePools(pools: readonly SeenPool[]): Finding {
  const unserved = pools.filter(({ workers, ready }) => workers === 0 && ready.count > 0)
  if (unserved.length === 0) return { check: 'pools', state: 'ok', text: 'nothing is ready in a pool without a process' }
  const told = unserved.map(({ name, ready: { count, more } }) => `${name} (${count}${more ? '+' : ''})`)
  return {
    check: 'pools',
    state: 'warn',
    text: `jobs are ready in pools that no live process serves: ${told.join(', ')}`,
    fix: 'Start a process with these pools, or correct the name of the pool where the jobs are enqueued; `sluice pools list` shows all.',
  }
}
