/**
 * `sluice owners`: on whose behalf jobs run. A pause spans all of their lanes.
 */
import { paging, reason } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

export const owners: Noun = {
  name: 'owners',
  about: 'on whose behalf: list, pause, resume',
  leaves: [
    {
      usage: 'list',
      about: 'owners with lanes or limits of their own',
      choices: paging,
      examples: [['sluice owners list', 'who is paused, held or capped']],
      load: async () => (await import('./steer-owners.ts')).listOwners,
    },
    {
      usage: 'pause <name>',
      deed: 'owners.pause',
      about: 'start nothing for this owner, in any lane',
      choices: [reason],
      examples: [['sluice owners pause acme --reason "contract ended"', 'jobs that run go on']],
      load: async () => (await import('./steer-owners.ts')).pauseOwner,
    },
    {
      usage: 'resume <name>',
      deed: 'owners.resume',
      about: 'let this owner go on',
      examples: [['sluice owners resume acme', 'waiting jobs start at once']],
      load: async () => (await import('./steer-owners.ts')).resumeOwner,
    },
  ],
}
