/**
 * `sluice collect`: from a login to its numbers in one command.
 */
import type { Leaf } from '../session/tree.ts'
import { githubUrl, tokenFile } from './choices.ts'

export const collectLeaf: Leaf = {
  usage: 'collect <login>',
  deed: 'collections.start',
  about: 'collect what is new of a GitHub account, and show how far it is',
  choices: [tokenFile, { flags: '--no-wait', about: 'request it and leave' }, githubUrl],
  note: `Whoever is not registered yet is, with the token of GITHUB_TOKEN. Where no worker runs on this database the command works itself, with a PostgreSQL of its
own if there is none. One that is under way is followed. Interrupted, it goes on where it stopped.`,
  examples: [
    ['GITHUB_TOKEN=… sluice collect octocat', 'in an empty folder, nothing configured'],
    ['sluice collect octocat --json | jq .kinds', 'a line for every change'],
  ],
  load: async () => (await import('./collect-user.ts')).collectUser,
}
