/**
 * `sluice jobs`: the work itself.
 */
import { dryRun, duration, oneOf, owner, paging, reason, someOf, time, wait, wholeNumber, yes } from '../session/choices.ts'
import type { Choice, Noun } from '../session/tree.ts'
import { bulkActions, jobStates } from './words.ts'

const filters: readonly Choice[] = [
  { flags: '-s, --state <states>', about: 'one or more, with commas between', read: someOf(jobStates), words: jobStates },
  { flags: '-k, --kind <name>', about: 'only jobs of this kind' },
  { flags: '--pool <name>', about: 'only jobs of this pool' },
  { flags: '--lane <name>', about: 'only jobs in this lane' },
  owner,
  { flags: '--run <id>', about: 'only jobs of this run', read: wholeNumber(1, Number.MAX_SAFE_INTEGER) },
  {
    flags: '--tree <id>',
    about: 'the job at the root of a tree, and all that came of it',
    read: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  },
  { flags: '--error <group>', about: 'only failed jobs of this group, as `jobs dead` names it' },
]

const payload: Choice = { flags: '-p, --payload <json>', about: 'JSON, @file, or - for standard input (default {})' }

export const jobs: Noun = {
  name: 'jobs',
  about: 'the work: list, show, why, enqueue, retry, cancel, search, dead, bulk',
  leaves: [
    {
      usage: 'list',
      about: 'jobs, live and finished, newest first',
      choices: [...filters, ...paging],
      examples: [
        ['sluice jobs list', 'the newest fifty'],
        ['sluice jobs list --state failed,paused --kind mail', 'what needs a look'],
        ['sluice jobs list --json | jq .items[].id', 'for programs'],
      ],
      load: async () => (await import('./list-jobs.ts')).listJobs,
    },
    {
      usage: 'show <id>',
      about: 'one job with its attempts and why it does not run',
      examples: [['sluice jobs show 42', 'payload, attempts, errors, log']],
      load: async () => (await import('./show-job.ts')).showJob,
    },
    {
      usage: 'why <id>',
      about: 'why a job does not run, in one sentence',
      examples: [['sluice jobs why 42', 'the lane is closed until 14:02']],
      load: async () => (await import('./show-job.ts')).explainJob,
    },
    {
      usage: 'enqueue <kind>',
      deed: 'jobs.enqueue',
      about: 'make a job',
      choices: [
        payload,
        { flags: '--delay <duration>', about: 'not before this long from now', read: duration },
        { flags: '--at <time>', about: 'not before this time', read: time },
        { flags: '--priority <number>', about: 'higher goes first, -1000 to 1000' },
        owner,
        { flags: '--lane <name>', about: 'what its budget is counted against' },
        { flags: '--cost <permits>', about: 'how much of that budget one attempt takes', read: wholeNumber(1, 30_000) },
        { flags: '--pool <name>', about: 'the pool it runs in' },
        { flags: '--key <text>', about: 'dedupe key' },
        {
          flags: '--dedupe <mode>',
          about: 'what to do when its key is taken',
          read: oneOf(['keep', 'replace', 'debounce', 'again', 'none']),
          words: ['keep', 'replace', 'debounce', 'again', 'none'],
        },
        { flags: '--attempts <count>', about: 'how often it is tried', read: wholeNumber(1, 1_000) },
        wait,
      ],
      examples: [
        [`sluice jobs enqueue sluice.ping --payload '{"message":"hello"}' --wait`, 'and wait for it'],
        ['sluice jobs enqueue report --delay 10m --owner acme', 'later, for somebody'],
        ['jq -c .order order.json | sluice jobs enqueue order.check -p -', 'the payload from standard input'],
      ],
      load: async () => (await import('./enqueue-job.ts')).enqueueJob,
    },
    {
      usage: 'retry <id...>',
      deed: 'jobs.retry',
      about: 'try failed jobs again',
      examples: [['sluice jobs retry 42 43', 'those that failed; others are left alone']],
      load: async () => (await import('./steer-jobs.ts')).retryJobs,
    },
    {
      usage: 'cancel <id...>',
      deed: 'jobs.cancel',
      about: 'stop jobs; what runs is told to',
      choices: [{ flags: '--tree', about: 'and everything that came of them' }, reason],
      examples: [['sluice jobs cancel 42 --tree --reason "wrong import"', 'the job and its children']],
      load: async () => (await import('./steer-jobs.ts')).cancelJobs,
    },
    {
      usage: 'discard <id...>',
      deed: 'jobs.discard',
      about: 'put failed jobs away; they end as failed',
      examples: [['sluice jobs discard 42', 'nobody will retry it']],
      load: async () => (await import('./steer-jobs.ts')).discardJobs,
    },
    {
      usage: 'search <json>',
      about: 'jobs whose payload contains this, among the newest',
      choices: [...filters, ...paging],
      examples: [[`sluice jobs search '{"user":{"id":7}}' --state failed`, 'says how far it looked']],
      load: async () => (await import('./list-jobs.ts')).searchJobs,
    },
    {
      usage: 'dead',
      about: 'failed jobs, grouped by their error',
      choices: paging,
      examples: [
        ['sluice jobs dead', 'what went wrong how often'],
        ['sluice jobs bulk retry --error 3f2a9c01d4e5b6a7', 'and again, a whole group'],
      ],
      load: async () => (await import('./list-jobs.ts')).listDead,
    },
    {
      usage: 'bulk <action>',
      deed: ({ options }) => (options['dryRun'] === true ? undefined : 'jobs.bulk'),
      about: 'retry, cancel or discard all jobs that fit',
      choices: [
        ...filters,
        dryRun,
        { flags: '--max <count>', about: 'stop after so many', read: wholeNumber(1, 10_000_000) },
        reason,
        yes,
      ],
      note: `Actions: ${bulkActions.join(', ')}. Asks before it changes anything; --yes answers for scripts.`,
      examples: [
        ['sluice jobs bulk retry --kind mail --dry-run', 'how many it would be'],
        ['sluice jobs bulk cancel --owner acme --yes', 'without asking'],
      ],
      load: async () => (await import('./bulk-jobs.ts')).bulkJobs,
    },
  ],
}
