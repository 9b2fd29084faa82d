/**
 * `sluice keys`: API keys, and the key that secrets are sealed with.
 */
import { duration, oneOf, paging } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

const roles = ['read', 'operate', 'admin']

export const keys: Noun = {
  name: 'keys',
  about: 'API keys: create, list, revoke; and rotate the master key',
  leaves: [
    {
      usage: 'create <name>',
      deed: 'keys.create',
      about: 'make an API key; it is shown this once',
      choices: [
        { flags: '--role <role>', about: 'what it may do (default read)', read: oneOf(roles), words: roles },
        { flags: '--expires <duration>', about: 'after how long it stops working, such as 90d', read: duration },
      ],
      examples: [
        ['sluice keys create grafana', 'may only look'],
        ['KEY=$(sluice keys create deploy --role operate --expires 90d)', 'the key alone is on standard output'],
      ],
      load: async () => (await import('./manage-keys.ts')).createKey,
    },
    {
      usage: 'list',
      about: 'all keys, when they were last used and when they end',
      choices: paging,
      examples: [['sluice keys list', 'newest first; the keys themselves are not stored']],
      load: async () => (await import('./manage-keys.ts')).listKeys,
    },
    {
      usage: 'revoke <id>',
      deed: 'keys.revoke',
      about: 'a key stops working at once, everywhere',
      examples: [['sluice keys revoke k7p2m4', 'by the id that `keys list` shows']],
      load: async () => (await import('./manage-keys.ts')).revokeKey,
    },
    {
      usage: 'rotate',
      deed: 'secrets.rotate',
      about: 'seal all secrets anew under the current master key',
      choices: [
        { flags: '--new', about: 'first put a new key into the file; all processes need it before secrets are sealed with it' },
      ],
      note: `In order: \`keys rotate --new\`, start all processes again, \`keys rotate\`. When nothing is left, older keys can go.`,
      examples: [
        ['sluice keys rotate --new', 'a new key at the top of the file; the old one stays'],
        ['sluice keys rotate', 'once every process has been started again'],
      ],
      load: async () => (await import('./rotate-master-key.ts')).rotateMasterKey,
    },
  ],
}
