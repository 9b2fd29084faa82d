/**
 * `sluice scores`: who does how much, and how that changed.
 */
import { oneOf, paging } from '../session/choices.ts'
import type { Leaf } from '../session/tree.ts'

const orders = ['score', 'activity', 'impact']

export const scoresLeaf: Leaf = {
  usage: 'scores [login]',
  about: 'the leaderboard, or one account with its history',
  choices: [
    { flags: '--by <figure>', about: 'order of the leaderboard (default score)', read: oneOf(orders), words: orders },
    ...paging,
  ],
  examples: [
    ['sluice scores', 'highest first'],
    ['sluice scores octocat', 'one account, after each collection'],
  ],
  load: async () => (await import('./show-scores.ts')).showScores,
}
