/**
 * `sluice runs`: trees of jobs with one start and one completion.
 */
import { oneOf, owner, paging, reason, wait } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

const runStates = ['created', 'planning', 'running', 'finalizing', 'completed', 'failed', 'canceled'] as const

export const runs: Noun = {
  name: 'runs',
  about: 'trees of jobs: list, show, tree, start, cancel, retry',
  leaves: [
    {
      usage: 'list',
      about: 'runs, newest first',
      choices: [
        { flags: '-s, --state <state>', about: 'only runs in this state', read: oneOf(runStates), words: runStates },
        { flags: '-k, --kind <name>', about: 'only runs of this kind' },
        owner,
        ...paging,
      ],
      examples: [['sluice runs list --state running', 'what is under way']],
      load: async () => (await import('./show-runs.ts')).listRuns,
    },
    {
      usage: 'show <id>',
      about: 'one run: how far it is, what failed',
      examples: [['sluice runs show 7', 'counts by kind and state']],
      load: async () => (await import('./show-runs.ts')).showRun,
    },
    {
      usage: 'tree <id>',
      about: 'the jobs of a run, children below their parents',
      choices: paging,
      examples: [['sluice runs tree 7', 'who made whom']],
      load: async () => (await import('./show-tree.ts')).showTree,
    },
    {
      usage: 'start <kind>',
      deed: 'runs.start',
      about: 'start a run',
      choices: [{ flags: '-p, --payload <json>', about: 'JSON, @file, or - for standard input (default {})' }, owner, wait],
      examples: [
        ['sluice runs start import.nightly --wait', 'with a bar; exit code 1 when it fails'],
        [`sluice runs start import.nightly --owner acme --payload '{"full":true}'`, 'for somebody'],
      ],
      load: async () => (await import('./start-run.ts')).startRun,
    },
    {
      usage: 'cancel <id>',
      deed: 'runs.cancel',
      about: 'stop a run and all of its jobs',
      choices: [reason],
      examples: [['sluice runs cancel 7 --reason "wrong file"', 'what runs is told to stop']],
      load: async () => (await import('./steer-runs.ts')).cancelRun,
    },
    {
      usage: 'retry <id>',
      deed: 'runs.retry',
      about: 'try the failed jobs of a run again',
      examples: [['sluice runs retry 7', 'prints how many']],
      load: async () => (await import('./steer-runs.ts')).retryRun,
    },
  ],
}
