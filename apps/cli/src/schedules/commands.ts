/**
 * `sluice schedules`: what fires when.
 */
import { reason, wholeNumber } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

export const schedules: Noun = {
  name: 'schedules',
  about: 'what fires when: list, show, pause, resume, run',
  leaves: [
    {
      usage: 'list',
      about: 'all schedules with their next fire',
      examples: [['sluice schedules list', 'name, expression, last and next fire']],
      load: async () => (await import('./show-schedules.ts')).listSchedules,
    },
    {
      usage: 'show <name>',
      about: 'one schedule and its next fires',
      choices: [{ flags: '--fires <count>', about: 'how many fires to tell (default 5)', read: wholeNumber(0, 1_000) }],
      examples: [['sluice schedules show report --fires 10', 'the next ten fires, in its zone and here']],
      load: async () => (await import('./show-schedules.ts')).showSchedule,
    },
    {
      usage: 'pause <name>',
      deed: 'schedules.pause',
      about: 'fires no more until it is resumed',
      choices: [reason],
      examples: [['sluice schedules pause report --reason "figures are wrong"', 'what falls into the pause is left out']],
      load: async () => (await import('./steer-schedules.ts')).pauseSchedule,
    },
    {
      usage: 'resume <name>',
      deed: 'schedules.resume',
      about: 'goes on with the next fire from now',
      examples: [['sluice schedules resume report', 'missed fires are not caught up']],
      load: async () => (await import('./steer-schedules.ts')).resumeSchedule,
    },
    {
      usage: 'run <name>',
      deed: 'schedules.run',
      about: 'enqueue its job now, paused or not',
      examples: [['sluice schedules run report', 'prints the id of the job']],
      load: async () => (await import('./steer-schedules.ts')).runSchedule,
    },
  ],
}
