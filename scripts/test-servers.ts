/**
 * The servers that some suites need and npm cannot bring, one row each.
 *
 * A suite that needs one asks for it by name and is reported as skipped where it is missing; the embedded PostgreSQL, which
 * carries all the others, comes with `npm ci` and is not listed.
 */
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export type TestServer = {
  readonly name: string
  /** A program on the path, or the full path of a file. */
  readonly program: string
  readonly debianPackage: string
  readonly suites: string
}

export const testServers: readonly TestServer[] = [
  {
    name: 'redis-server',
    program: 'redis-server',
    debianPackage: 'redis-server',
    suites: 'everything that compares with or runs on Redis',
  },
  {
    name: 'postgresql-15',
    program: '/usr/lib/postgresql/15/bin/initdb',
    debianPackage: 'postgresql-15',
    suites: 'guarantees on the lowest supported PostgreSQL',
  },
  { name: 'pgbouncer', program: 'pgbouncer', debianPackage: 'pgbouncer', suites: 'guarantees through a connection pooler' },
  {
    name: 'python3-github',
    program: '/usr/lib/python3/dist-packages/github/__init__.py',
    debianPackage: 'python3-github',
    suites: 'PyGithub against the simulator',
  },
]

export const missingServers = (): TestServer[] => testServers.filter(({ program }) => find(program) === undefined)

/** Debian keeps servers in /usr/sbin, which the path of an ordinary user leaves out. */
export function find(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  const places = isAbsolute(program) ? [program] : folders.map((folder) => join(folder, program))
  return places.find((place) => existsSync(place))
}
