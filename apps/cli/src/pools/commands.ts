/**
 * `sluice pools`: where jobs run. A pause holds back everything that wants to run there.
 */
import { reason } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

export const pools: Noun = {
  name: 'pools',
  about: 'where jobs run: list, pause, resume',
  leaves: [
    {
      usage: 'list',
      about: 'pools, who works for them, and what waits there',
      examples: [['sluice pools list', 'who is paused, full or forgotten']],
      load: async () => (await import('./steer-pools.ts')).listPools,
    },
    {
      usage: 'pause <name>',
      deed: 'pools.pause',
      about: 'start no job in this pool until it is resumed',
      choices: [reason],
      examples: [['sluice pools pause heavy --reason "the disk is full"', 'jobs that run go on']],
      load: async () => (await import('./steer-pools.ts')).pausePool,
    },
    {
      usage: 'resume <name>',
      deed: 'pools.resume',
      about: 'let jobs of this pool go on',
      examples: [['sluice pools resume heavy', 'waiting jobs start at once']],
      load: async () => (await import('./steer-pools.ts')).resumePool,
    },
  ],
}
