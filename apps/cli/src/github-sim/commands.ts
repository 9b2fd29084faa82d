/**
 * `sluice github-sim`: a GitHub on this machine, to try things on.
 */
import { duration, wholeNumber } from '../session/choices.ts'
import type { Leaf } from '../session/tree.ts'
import { logins } from './people.ts'

const port = wholeNumber(0, 65_535)

export const githubSimLeaf: Leaf = {
  usage: 'github-sim',
  about: 'a GitHub on this machine, with people, tokens and limits of its own',
  choices: [
    { flags: '--people <logins>', about: 'who is there, with commas between (default acorn,birch,cedar)', read: logins },
    { flags: '--repositories <count>', about: 'of each (default 10)', read: wholeNumber(0, 10_000) },
    { flags: '--commits <count>', about: 'of each, over all repositories (default 500)', read: wholeNumber(0, 1_000_000) },
    { flags: '--issues <count>', about: 'of each, over all repositories (default 80)', read: wholeNumber(0, 1_000_000) },
    { flags: '--pulls <count>', about: 'of each, over all repositories (default 40)', read: wholeNumber(0, 1_000_000) },
    { flags: '--limit <units>', about: 'budget of a token in a window (default 5000)', read: wholeNumber(1, 1_000_000) },
    { flags: '--window <duration>', about: 'how long a window is (default 1h)', read: duration },
    { flags: '--latency <ms>', about: 'how long an answer takes (default 0)', read: wholeNumber(0, 60_000) },
    { flags: '--seed <number>', about: 'the same seed makes the same data (default 1)', read: wholeNumber(0, 2 ** 31) },
    { flags: '--port <number>', about: 'port of the API; 0 takes a free one (default 0)', read: port },
    { flags: '--admin-port <number>', about: 'port of truth, log, clock, churn and chaos (default 0)', read: port },
  ],
  note: 'REST and GraphQL over made-up data. Everything is in memory and gone afterwards. The tokens work nowhere else.',
  examples: [
    ['sluice github-sim', 'prints its address, the tokens, and a command to try'],
    ['sluice github-sim --people acorn --commits 20000 --limit 400 --window 1m', 'a long history under a small budget'],
  ],
  load: async () => (await import('./run-sim.ts')).runSim,
}
