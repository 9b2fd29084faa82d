/**
 * `sluice kinds`: what processes said they can do. A pause holds back one sort of work, wherever it waits.
 */
import { reason } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

export const kinds: Noun = {
  name: 'kinds',
  about: 'sorts of work: list, pause, resume',
  leaves: [
    {
      usage: 'list',
      about: 'kinds that processes registered, and how many can run them now',
      examples: [['sluice kinds list', 'who is paused, and whom nobody runs']],
      load: async () => (await import('./steer-kinds.ts')).listKinds,
    },
    {
      usage: 'pause <name>',
      deed: 'kinds.pause',
      about: 'start no job of this kind until it is resumed',
      choices: [reason],
      examples: [['sluice kinds pause person.greet --reason "wrong template"', 'jobs that run go on']],
      load: async () => (await import('./steer-kinds.ts')).pauseKind,
    },
    {
      usage: 'resume <name>',
      deed: 'kinds.resume',
      about: 'let jobs of this kind go on',
      examples: [['sluice kinds resume person.greet', 'waiting jobs start at once']],
      load: async () => (await import('./steer-kinds.ts')).resumeKind,
    },
  ],
}
