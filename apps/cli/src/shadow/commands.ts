/**
 * `sluice shadow`: two strategies side by side for one account.
 */
import { githubUrl } from '../collect/choices.ts'
import { someOf } from '../session/choices.ts'
import type { Leaf } from '../session/tree.ts'

const words = ['graphql', 'rest']

export const shadowLeaf: Leaf = {
  usage: 'shadow <login>',
  deed: ({ options }) => (options['last'] === true || options['dryRun'] === true ? undefined : 'shadows.start'),
  about: 'collect an account by two strategies side by side, and compare them',
  choices: [
    { flags: '--strategies <two>', about: 'which, with a comma between (default graphql,rest)', read: someOf(words), words },
    { flags: '--keep', about: 'keep both bodies of data after the report' },
    { flags: '--last', about: 'show the report of the last one, and start nothing' },
    { flags: '--dry-run', about: 'say what it would cost, and start nothing' },
    { flags: '--no-wait', about: 'start it and leave' },
    githubUrl,
  ],
  note: `The live data is not touched and its jobs go first, but both take from the account's quota. Where no worker runs on this database the command works
itself. A comparison that is under way is followed.`,
  examples: [
    ['sluice shadow octocat', 'jobs, rows, scores, time, errors and quota of both'],
    ['sluice shadow octocat --dry-run', 'units it would take, beside what is left; by REST each commit is a call'],
    ['sluice shadow octocat --last --json | jq .report.nouns', 'what one has and the other lacks'],
  ],
  load: async () => (await import('./compare-strategies.ts')).compareStrategies,
}
