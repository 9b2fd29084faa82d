/**
 * `sluice doctor`: what is wrong, and how to mend it.
 */
import type { Leaf } from '../session/tree.ts'

export const doctorLeaf: Leaf = {
  usage: 'doctor',
  about: 'check configuration, database, clocks, leader, keys; say how to mend what is wrong',
  note: 'Exit code 1 when a check fails; warnings do not count.',
  examples: [
    ['sluice doctor', 'a line for each check'],
    [`sluice doctor --json | jq '.checks[] | select(.state != "ok")'`, 'only what is wrong'],
  ],
  load: async () => (await import('./run-checks.ts')).runDoctor,
}
