/**
 * Makes a lock file that installs on every machine, whatever machine and registry wrote it.
 *
 * npm writes only the platform builds that it saw: a lock file made on Linux may leave out those for macOS, and `npm ci`
 * then refuses it everywhere with "Missing … from lock file". The version of a build is pinned by the package that
 * asks for it, so the entry can be written without downloading anything. npm also records the registry's address, which
 * ties everybody to it; without it, npm asks the registry that the reader has set.
 */
export type LockEntry = {
  version?: string
  resolved?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
export type LockFile = { packages: Record<string, LockEntry> }

/** Optional dependencies that have no entry, with the one they should have. */
export function missingEntries({ packages }: LockFile): Record<string, LockEntry> {
  const present = new Set(Object.keys(packages).map((path) => path.replace(/^(?:.*\/)?node_modules\//, '')))
  const missing: Record<string, LockEntry> = {}
  for (const { dev, optionalDependencies } of Object.values(packages))
    for (const [name, version] of Object.entries(optionalDependencies ?? {}))
      if (!present.has(name))
        missing[`node_modules/${name}`] = {
          version: version.replace(/^[~^]/, ''),
          ...(dev ? { dev } : {}),
          optional: true,
          ...platformOf(name),
        }
  return missing
}

export function completeLock<Lock extends LockFile>(lock: Lock): Lock {
  const { '': root = {}, ...rest } = { ...lock.packages, ...missingEntries(lock) }
  const entries = Object.entries(rest).toSorted(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries([['', root], ...entries.map(([path, entry]) => [path, withoutHost(entry)])]) }
}

function withoutHost({ resolved, ...entry }: LockEntry): LockEntry {
  return resolved === undefined || /^\w+:\/\//.test(resolved) ? entry : { resolved, ...entry }
}

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']

/** By convention the name of a build says where it runs: `…/binding-linux-x64-musl`. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> {
  const words = name.replace('windows', 'win32').split(/[-/]/)
  const os = systems.find((system) => words.includes(system))
  const cpu = processors.find((processor) => words.includes(processor))
  const libc = os === 'linux' ? (words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : undefined) : undefined
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(libc ? { libc: [libc] } : {}), ...(os ? { os: [os] } : {}) }
}
