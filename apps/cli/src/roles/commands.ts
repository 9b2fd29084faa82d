/**
 * up, server, worker, scheduler: the roles as commands, with a flag for every field of the configuration.
 */
import type { ServedRole } from '@sluice/server'
import { fields } from '@sluice/server/fields'
import type { Act, Choice, Leaf } from '../session/tree.ts'

/** These belong to every command. */
const global = new Set(['database', 'data'])

const flags: Choice[] = fields
  .filter(({ flag, name }) => flag !== undefined && !global.has(name))
  .map(({ flag = '', about, variable, fallback }) => ({ flags: flag, about: `${about} (${variable}, default: ${fallback})` }))

const without = (...names: string[]): Choice[] => flags.filter(({ flags }) => !names.some((name) => flags.startsWith(name)))

const load = (role: ServedRole) => async (): Promise<Act> => {
  const { runRole } = await import('./run-role.ts')
  return (call) => runRole(role, call)
}

export const roleLeaves: readonly Leaf[] = [
  {
    usage: 'up',
    about: 'everything in one process: API, worker, scheduler',
    choices: without('--health-port'),
    note: 'Without --database a PostgreSQL of its own is started in the data folder, or the running one is used.',
    examples: [
      ['sluice up', 'in an empty folder, nothing configured'],
      ['sluice up --load ./jobs.js', 'with your kinds'],
      ['sluice up --port 0 --json', 'on a free port, told as JSON'],
    ],
    load: load('up'),
  },
  {
    usage: 'server',
    about: 'the HTTP API; runs no jobs and does not lead',
    choices: without('--health-port', '--pools'),
    examples: [['sluice server --database postgresql://localhost/app', 'beside workers and a scheduler elsewhere']],
    load: load('server'),
  },
  {
    usage: 'worker',
    about: 'runs jobs; any number of them',
    choices: without('--port'),
    examples: [
      ['sluice worker --load ./jobs.js --pools light=20-40,heavy=2', 'your kinds, with more room'],
      ['sluice worker --health-port 9090', 'with /livez, /readyz and /metrics'],
    ],
    load: load('worker'),
  },
  {
    usage: 'scheduler',
    about: 'leads: due jobs, schedules, rescue, upkeep; a second one stands by',
    choices: without('--port', '--pools'),
    examples: [['sluice scheduler --load ./jobs.js', 'schedules of your modules are stored and fired']],
    load: load('scheduler'),
  },
]
