/**
 * `sluice lanes`: what budgets, caps and pauses are counted against.
 */
import { owner, paging, reason } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

export const lanes: Noun = {
  name: 'lanes',
  about: 'budgets, caps and pauses: list, show, hold, pause, resume',
  leaves: [
    {
      usage: 'list',
      about: 'lanes by name, with what is left of their budget',
      choices: [owner, { flags: '--closed', about: 'only those that start nothing now' }, ...paging],
      examples: [
        ['sluice lanes list', 'all of them'],
        ['sluice lanes list --closed --owner acme', 'what holds up one owner'],
      ],
      load: async () => (await import('./show-lanes.ts')).listLanes,
    },
    {
      usage: 'show <name>',
      about: 'one lane',
      examples: [['sluice lanes show github:4711:core', 'budget, reset, holds']],
      load: async () => (await import('./show-lanes.ts')).showLane,
    },
    {
      usage: 'hold <name> <duration>',
      deed: 'lanes.hold',
      about: 'start nothing in it for a while',
      examples: [['sluice lanes hold github:4711:core 15m', 'opens by itself']],
      load: async () => (await import('./steer-lanes.ts')).holdLane,
    },
    {
      usage: 'pause <name>',
      deed: 'lanes.pause',
      about: 'start nothing in it until it is resumed',
      choices: [reason],
      examples: [['sluice lanes pause github:4711:core --reason "token revoked"', 'jobs that run go on']],
      load: async () => (await import('./steer-lanes.ts')).pauseLane,
    },
    {
      usage: 'resume <name>',
      deed: 'lanes.resume',
      about: 'let it go on',
      examples: [['sluice lanes resume github:4711:core', 'its jobs start at once']],
      load: async () => (await import('./steer-lanes.ts')).resumeLane,
    },
  ],
}
