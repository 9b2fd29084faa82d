/**
 * `sluice users`: GitHub accounts whose activity is collected.
 */
import { githubUrl, tokenFile } from '../collect/choices.ts'
import { paging, yes } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

const note =
  'The token comes from GITHUB_TOKEN, from a file, or from standard input; never as an argument, which everybody on the machine could read.'

export const users: Noun = {
  name: 'users',
  about: 'GitHub accounts that are collected: add, list, show, rotate, remove',
  leaves: [
    {
      usage: 'add <login>',
      deed: 'users.add',
      about: 'register an account with its token, and request its first collection',
      choices: [tokenFile, { flags: '--no-collect', about: 'only register' }, githubUrl],
      note,
      examples: [
        ['GITHUB_TOKEN=… sluice users add octocat', 'GitHub is asked whose token it is'],
        ['gh auth token | sluice users add octocat --token-file -', 'from standard input'],
      ],
      load: async () => (await import('./manage-users.ts')).addUser,
    },
    {
      usage: 'list',
      about: 'all accounts',
      choices: paging,
      examples: [['sluice users list', 'whose token works, when they were last collected']],
      load: async () => (await import('./show-users.ts')).listUsers,
    },
    {
      usage: 'show <login>',
      about: 'one account: its token, its newest collection, its quota',
      examples: [['sluice users show octocat', 'the token itself is never shown']],
      load: async () => (await import('./show-users.ts')).showUser,
    },
    {
      usage: 'rotate <login>',
      deed: 'users.rotate',
      about: 'give an account a new token; what waited for it goes on',
      choices: [tokenFile, { flags: '--move', about: 'its GitHub has another address now: that of --github-url' }, githubUrl],
      note,
      examples: [['GITHUB_TOKEN=… sluice users rotate octocat', 'after GitHub refused the old one']],
      load: async () => (await import('./manage-users.ts')).rotateToken,
    },
    {
      usage: 'remove <login>',
      deed: 'users.remove',
      about: 'forget an account, its token and all that was collected of it',
      choices: [yes],
      examples: [['sluice users remove octocat --yes', 'does not ask']],
      load: async () => (await import('./manage-users.ts')).removeUser,
    },
  ],
}
