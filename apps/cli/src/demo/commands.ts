/**
 * `sluice demo`: something to watch, without leaving anything behind.
 */
import { wholeNumber } from '../session/choices.ts'
import type { Leaf } from '../session/tree.ts'

export const demoLeaf: Leaf = {
  usage: 'demo',
  about: 'a whole system in a temporary folder, with work to watch',
  choices: [
    { flags: '--jobs <count>', about: 'how many jobs (default 300)', read: wholeNumber(1, 100_000) },
    { flags: '--exit', about: 'end when the work is done' },
  ],
  note: 'Some jobs fail and come back. Everything is gone afterwards.',
  examples: [
    ['sluice demo', 'then open the address it prints; Ctrl-C ends it'],
    ['sluice demo --exit', 'ends by itself; the exit code says whether all went well'],
  ],
  load: async () => (await import('./show-demo.ts')).showDemo,
}
