/**
 * `sluice workers`: the processes.
 */
import type { Noun } from '../session/tree.ts'

export const workers: Noun = {
  name: 'workers',
  about: 'processes that are alive, and who leads',
  leaves: [
    {
      usage: 'list',
      about: 'processes, what they run, and their last heartbeat',
      examples: [['sluice workers list', 'the leader is marked']],
      load: async () => (await import('./list-workers.ts')).listWorkers,
    },
  ],
}
