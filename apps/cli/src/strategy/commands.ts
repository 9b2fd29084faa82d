/**
 * `sluice strategy`: how accounts are read.
 */
import { reason } from '../session/choices.ts'
import type { Leaf } from '../session/tree.ts'

export const strategyLeaf: Leaf = {
  usage: 'strategy [login] [strategy]',
  deed: ({ args: [first = '', second] }) =>
    second !== undefined || ['graphql', 'rest'].includes(first) ? 'strategy.set' : undefined,
  about: 'show or switch how accounts are read: graphql or rest, for one or for all',
  choices: [reason],
  note: `What is under way ends as it began; the next collection reads by the new strategy. The first ones after a switch are watched: if more than 5 % of
their jobs fail, or they take more than twice as long as before, the switch is taken back by itself.`,
  examples: [
    ['sluice strategy', 'the one for all, and its last switches'],
    ['sluice strategy rest', 'switch all accounts that have none of their own'],
    ['sluice strategy octocat rest', 'switch one account'],
    ['sluice strategy octocat default', 'the one for all again'],
  ],
  load: async () => (await import('./switch-strategy.ts')).switchStrategy,
}
