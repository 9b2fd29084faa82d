/**
 * `sluice status`: the whole on one page.
 */
import type { Leaf } from '../session/tree.ts'

export const statusLeaf: Leaf = {
  usage: 'status',
  about: 'the whole on one page: jobs, processes, leader, what stands still',
  choices: [{ flags: '-w, --watch', about: 'stay, and draw it again when something changes' }],
  note: 'With --watch --json each change is a line. On a terminal q or Ctrl-C ends it.',
  examples: [
    ['sluice status', 'a look'],
    ['sluice status --watch', 'a page that stays'],
    ['sluice status --json | jq .concerns', 'what somebody should look at'],
  ],
  load: async () => (await import('./show-status.ts')).showStatus,
}
