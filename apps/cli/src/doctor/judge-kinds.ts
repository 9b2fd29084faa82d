/**
 * Jobs that wait although their pool is served: no live process knows their kind. A deploy that left a module behind looks like this, and nothing else shows it.
 */
import type { SeenKind } from '@sluice/engine'
import type { Finding } from './findings.ts'

export interface WaitingKind {
  readonly name: string
  /** A job of it that is ready. */
  readonly job: number
}

/** Of how many kinds the jobs are looked at. */
const kindsMax = 50

/** Those that nobody can run although somebody serves their pool; what waits in a pool that nobody serves is told of the pool. */
export function unknownKinds(kinds: readonly SeenKind[], served: ReadonlySet<string>): string[] {
  const nobody = kinds.filter(({ workers, pool, paused }) => workers === 0 && served.has(pool) && !paused)
  return nobody.slice(0, kindsMax).map(({ name }) => name)
}

export function judgeKinds(waiting: readonly WaitingKind[]): Finding {
  if (waiting.length === 0) return { check: 'kinds', state: 'ok', text: 'nothing is ready that no process knows' }
  const told = waiting.map(({ name, job }) => `${name} (job ${job})`)
  return {
    check: 'kinds',
    state: 'warn',
    text: `jobs are ready of kinds that no live process knows: ${told.join(', ')}`,
    fix: 'Start a process that defines them; `sluice kinds list` shows who can run what.',
  }
}
