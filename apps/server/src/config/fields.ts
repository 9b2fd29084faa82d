/**
 * Every field of the configuration as one row: its flag, its variable, what to write, and what holds when nothing is said.
 *
 * Flags of the command line, the reading of the environment, the messages about wrong values, `sluice config` and the table in
 * docs/configuration.md all come from here. It imports nothing, so that `sluice --help` stays quick.
 */
export interface Field {
  readonly name: FieldName
  /** As commander takes it. Secrets have none: everybody on the machine can read the arguments of a process. */
  readonly flag?: string
  readonly variable: string
  readonly about: string
  /** What to write: ends the message about a wrong value. */
  readonly write: string
  readonly fallback: string
  /** Never printed, and not read from the file, which ends up in version control. */
  readonly secret?: true
  readonly text: 'plain' | 'number' | 'boolean' | 'list' | 'pools'
}

export type FieldName =
  | 'database'
  | 'redis'
  | 'data'
  | 'host'
  | 'port'
  | 'healthPort'
  | 'load'
  | 'pools'
  | 'requireKeys'
  | 'masterKey'
  | 'masterKeyFile'
  | 'logLevel'
  | 'logFormat'
  | 'keepDays'
  | 'lease'
  | 'grace'
  | 'githubUrl'
  | 'githubFloor'
  | 'collectDaily'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export const logFormats = ['auto', 'pretty', 'json'] as const

export const fileName = 'sluice.config.json'
export const fileVariable = 'SLUICE_CONFIG'

export const fields: readonly Field[] = [
  {
    name: 'database',
    flag: '--database <url>',
    variable: 'DATABASE_URL',
    about: 'address of PostgreSQL; without one a local server is started in the data folder',
    write: 'an address such as postgresql://user:password@host:5432/database',
    fallback: 'a local PostgreSQL',
    text: 'plain',
  },
  {
    name: 'redis',
    flag: '--redis <url>',
    variable: 'REDIS_URL',
    about: 'address of Redis, which then hands out the jobs; without one PostgreSQL does',
    write: 'an address such as redis://user:password@host:6379, or those of a cluster with commas between them',
    fallback: 'none',
    text: 'plain',
  },
  {
    name: 'data',
    flag: '--data <folder>',
    variable: 'SLUICE_DATA',
    about: 'folder of the local PostgreSQL and the master key',
    write: 'the path of a folder',
    fallback: '.sluice',
    text: 'plain',
  },
  {
    name: 'host',
    flag: '--host <address>',
    variable: 'SLUICE_HOST',
    about: 'address to listen on; any but loopback requires keys',
    write: 'an address or a name, such as 127.0.0.1',
    fallback: '127.0.0.1',
    text: 'plain',
  },
  {
    name: 'port',
    flag: '--port <number>',
    variable: 'SLUICE_PORT',
    about: 'port of the HTTP API; 0 takes a free one',
    write: 'a whole number from 0 to 65535, such as 7070',
    fallback: '7070',
    text: 'number',
  },
  {
    name: 'healthPort',
    flag: '--health-port <number>',
    variable: 'SLUICE_HEALTH_PORT',
    about: 'port of /livez, /readyz and /metrics of a worker or scheduler; 0 takes a free one',
    write: 'a whole number from 0 to 65535, such as 9090',
    fallback: 'none',
    text: 'number',
  },
  {
    name: 'load',
    flag: '--load <module...>',
    variable: 'SLUICE_LOAD',
    about: 'modules that export kinds, runs, schedules, events and lanes',
    write: 'paths of modules, such as ./jobs.js; commas between them in a variable, a list in the file',
    fallback: 'none',
    text: 'list',
  },
  {
    name: 'pools',
    flag: '--pools <sizes>',
    variable: 'SLUICE_POOLS',
    about: 'how many jobs run at once, by pool, and how many while a backlog stands',
    write: 'light=5-10,heavy=3-5, or in the file { "light": { "core": 5, "max": 10 } }',
    fallback: 'light=5-10,heavy=3-5',
    text: 'pools',
  },
  {
    name: 'requireKeys',
    flag: '--require-keys',
    variable: 'SLUICE_REQUIRE_KEYS',
    about: 'ask for an API key on loopback too',
    write: 'true or false',
    fallback: 'false on loopback, else true',
    text: 'boolean',
  },
  {
    name: 'masterKey',
    variable: 'SLUICE_MASTER_KEY',
    about: 'key that secrets are sealed with',
    write: '32 bytes in base64, as `openssl rand -base64 32` prints them',
    fallback: 'that of the file',
    secret: true,
    text: 'plain',
  },
  {
    name: 'masterKeyFile',
    flag: '--master-key-file <path>',
    variable: 'SLUICE_MASTER_KEY_FILE',
    about: 'file with the master key; the default one is made with mode 600',
    write: 'the path of a file',
    fallback: 'master.key in the data folder',
    text: 'plain',
  },
  {
    name: 'logLevel',
    flag: '--log-level <level>',
    variable: 'SLUICE_LOG_LEVEL',
    about: `one of ${logLevels.join(', ')}`,
    write: `one of ${logLevels.join(', ')}`,
    fallback: 'info',
    text: 'plain',
  },
  {
    name: 'logFormat',
    flag: '--log-format <format>',
    variable: 'SLUICE_LOG_FORMAT',
    about: 'auto is pretty on a terminal and JSON elsewhere',
    write: `one of ${logFormats.join(', ')}`,
    fallback: 'auto',
    text: 'plain',
  },
  {
    name: 'keepDays',
    flag: '--keep-days <days>',
    variable: 'SLUICE_KEEP_DAYS',
    about: 'how long finished jobs are kept',
    write: 'a whole number of days from 1 to 3650',
    fallback: '30',
    text: 'number',
  },
  {
    name: 'lease',
    flag: '--lease <duration>',
    variable: 'SLUICE_LEASE',
    about: 'after how long without a heartbeat a process counts as dead',
    write: 'a duration from 500ms to 10m, such as 10s',
    fallback: '10s',
    text: 'plain',
  },
  {
    name: 'grace',
    flag: '--grace <duration>',
    variable: 'SLUICE_GRACE',
    about: 'how long running jobs may go on when the process is told to stop',
    write: 'a duration up to 1h, such as 30s',
    fallback: '30s',
    text: 'plain',
  },
  {
    name: 'githubUrl',
    flag: '--github-url <url>',
    variable: 'GITHUB_API_URL',
    about: 'address of the GitHub API; https://HOST/api/v3 for GitHub Enterprise, or that of `sluice github-sim`',
    write: 'an address such as https://api.github.com',
    fallback: 'https://api.github.com',
    text: 'plain',
  },
  {
    name: 'githubFloor',
    flag: '--github-floor <units>',
    variable: 'SLUICE_GITHUB_FLOOR',
    about: "how much of each user's hourly budget is left to their other tools",
    write: 'a whole number from 0 to 4999, such as 100',
    fallback: '100',
    text: 'number',
  },
  {
    name: 'collectDaily',
    flag: '--collect-daily <on|off>',
    variable: 'SLUICE_COLLECT_DAILY',
    about: 'collect every user once a day',
    write: 'on or off; true or false in the file',
    fallback: 'on',
    text: 'boolean',
  },
]
