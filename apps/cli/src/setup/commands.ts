/**
 * config, migrate, doctor: before the first job, and when something is odd.
 */
import type { Leaf } from '../session/tree.ts'

export const setupLeaves: readonly Leaf[] = [
  {
    usage: 'config',
    about: 'show the configuration and where each value came from',
    examples: [
      ['sluice config', 'what holds in this folder'],
      ['sluice config --json | jq .fields', 'for programs'],
    ],
    load: async () => (await import('./show-config.ts')).showConfig,
  },
  {
    usage: 'migrate',
    about: 'bring the schema up to date',
    choices: [{ flags: '--check', about: 'change nothing; exit code 1 when something is missing' }],
    note: 'up, server, worker and scheduler do it by themselves when they start; other commands never do.',
    examples: [
      ['sluice migrate', 'before new processes are rolled out'],
      ['sluice migrate --check', 'in a pipeline'],
    ],
    load: async () => (await import('./migrate-database.ts')).migrateDatabase,
  },
]
