/**
 * The arrows of the house: who may import whom, as data, and the function that finds what breaks them.
 *
 * Each row says what one package (or one folder of the engine) may import, and why the list ends there. A package or folder
 * without a row is itself a violation, so the table cannot fall behind the tree. Test code may import anything, even past a
 * door, because a test of a part has to reach the part; `#engine/…` in package.json is its way. `bench` is left out: it is
 * installed on its own and stands outside the house.
 */
import { posix } from 'node:path'
import { importedBy } from './source.ts'
import type { Tree } from './tree.ts'

export type Arrow = { readonly from: string; readonly mayImport: readonly string[]; readonly because: string }
export type Violation = { readonly rule: string; readonly file: string; readonly imports: string; readonly because: string }

const ground = ['engine', 'github', 'local-postgres']
const applications = ['alerts', 'batch', 'collector', 'freshness', 'study']

const meetByKinds = 'Applications stand on the ground floor and meet one another only through events and exported kinds.'
const alone = 'The ground floor carries everything, so its parts know neither what stands on them nor one another.'

export const packageArrows: readonly Arrow[] = [
  {
    from: 'apps',
    mayImport: [...applications, ...ground],
    because: 'An app wires packages together; nothing is built on an app but the command line, which starts them.',
  },
  {
    from: 'cli',
    mayImport: ['apps', ...applications, ...ground],
    because: 'The command line starts apps; nothing is built on it.',
  },
  ...applications.map((from) => ({ from, mayImport: [...applications, ...ground], because: meetByKinds })),
  ...ground.map((from) => ({ from, mayImport: [], because: alone })),
]

const base = ['postgres', 'dispatch', 'support']
const nouns = ['job', 'lane', 'run', 'event']
const aside = ['secret']
const duties = ['worker', 'maintenance', 'schedule', 'inspect']

const wiring = 'The composition root wires every part; no part knows the whole, so that each can be tested alone.'
const oneDuty = 'Each duty stands on the nouns; duties meet in engine.ts, where their order of start and stop can be read.'
const noun = 'Nouns know their rows and one another, but not who works on them, so that a rule never waits for a loop.'

export const engineArrows: readonly Arrow[] = [
  { from: '.', mayImport: [...duties, ...nouns, ...aside, ...base], because: wiring },
  {
    from: 'testing',
    mayImport: ['.', ...duties, ...nouns, ...base],
    because: 'What we give to users to test with must not reach production.',
  },
  ...duties.map((from) => ({ from, mayImport: [...nouns, ...base], because: oneDuty })),
  ...nouns.map((from) => ({ from, mayImport: [...nouns, ...base], because: noun })),
  {
    from: 'secret',
    mayImport: ['postgres', 'support'],
    because: 'What is sealed has to do with no job, so that the code that holds keys can be read alone.',
  },
  {
    from: 'dispatch',
    mayImport: ['postgres', 'support'],
    because: 'A dispatcher carries ids; what a job means is not its business.',
  },
  { from: 'postgres', mayImport: ['support'], because: 'Connections and migrations serve every noun, so they know none.' },
  { from: 'support', mayImport: [], because: 'support is the bottom: it imports nothing of ours.' },
]

const door = 'A package is entered by its name or an exported subpath only; what is not exported can be changed.'
const rowless = 'Every package and every folder of the engine has a row in test/check/arrows.ts.'
const circular = 'Files that import each other in a circle can only be understood, loaded and changed together.'

const isTest = (file: string) => /^test\/|\.(?:test|suite)\.ts$/.test(file)
const isSource = (file: string) => /\.tsx?$/.test(file) && !file.startsWith('bench/')

/** Every import that breaks a rule. Pure: it reads only the texts, the sources and each package.json, that it is given. */
export function violations(files: Tree): Violation[] {
  const packages = packagesOf(files)
  const graph = new Map<string, string[]>()
  const found: Violation[] = []
  for (const [file, text] of files) {
    if (!isSource(file)) continue
    const targets = importedBy(text).map((specifier) => ({ specifier, ...resolve(file, specifier, packages) }))
    graph.set(
      file,
      targets.flatMap((target) => target.path ?? []),
    )
    if (isTest(file)) continue
    const report = (rule: string, imports: string, because: string) => found.push({ rule, file, imports, because })
    for (const { specifier, path, closed } of targets) {
      const [from, to] = [packageOf(file), path === undefined ? undefined : packageOf(path)]
      const crosses = to !== undefined && to.folder !== from?.folder
      if (closed || (crosses && specifier.startsWith('.'))) report('door', specifier, door)
      if (crosses && from) check(packageArrows, 'package', from.row, to.row, specifier, report)
      const [inner, outer] = [engineFolder(file), engineFolder(path ?? '')]
      if (inner && outer && inner !== outer) check(engineArrows, 'engine', inner, outer, specifier, report)
    }
    const folder = engineFolder(file)
    if (folder && !row(engineArrows, folder)) report('row', '', rowless)
  }
  for (const { folder, row: name } of packages.values())
    if (!row(packageArrows, name)) found.push({ rule: 'row', file: folder, imports: '', because: rowless })
  for (const circle of circlesIn(graph))
    found.push({ rule: 'cycle', file: circle[0] ?? '', imports: circle.join(' → '), because: circular })
  return found
}

type Report = (rule: string, imports: string, because: string) => void
const row = (arrows: readonly Arrow[], from: string) => arrows.find((arrow) => arrow.from === from)

function check(arrows: readonly Arrow[], rule: string, from: string, to: string, imports: string, report: Report): void {
  const arrow = row(arrows, from)
  if (arrow && !arrow.mayImport.includes(to)) report(rule, imports, arrow.because)
}

type Package = { readonly folder: string; readonly row: string; readonly doors: ReadonlyMap<string, string> }

function packagesOf(files: Tree): Map<string, Package> {
  const packages = new Map<string, Package>()
  for (const [file, text] of files) {
    const home = file.endsWith('/package.json') ? packageOf(file) : undefined
    if (!home) continue
    const { name, exports = {} } = JSON.parse(text) as { name: string; exports?: Record<string, Record<string, string>> }
    const doors = Object.entries(exports).map(([key, to]) => [
      posix.join(name, key),
      posix.join(home.folder, to['@sluice/source'] ?? to['default'] ?? ''),
    ])
    packages.set(name, { ...home, doors: new Map(doors as [string, string][]) })
  }
  return packages
}

/** The package that a path lies in. All of `apps` but the command line share one row: an app may not import another. */
function packageOf(path: string): { folder: string; row: string } | undefined {
  const [kind, name] = path.split('/')
  if (kind === 'packages' && name) return { folder: `packages/${name}`, row: name }
  return kind === 'apps' && name ? { folder: `apps/${name}`, row: name === 'cli' ? name : 'apps' } : undefined
}

/** The engine's folder that a path lies in; `.` is the composition root. */
function engineFolder(path: string): string | undefined {
  const match = /^packages\/engine\/src\/(?:(?<folder>[^/]+)\/)?[^/]/.exec(path)
  return match ? (match.groups?.['folder'] ?? '.') : undefined
}

type Target = { readonly path?: string; readonly closed?: boolean }

function resolve(file: string, specifier: string, packages: ReadonlyMap<string, Package>): Target {
  if (specifier.startsWith('.')) return { path: posix.join(posix.dirname(file), specifier) }
  if (specifier.startsWith('#')) return { closed: true }
  if (!specifier.startsWith('@sluice/')) return {}
  const home = packages.get(specifier.split('/').slice(0, 2).join('/'))
  const path = home?.doors.get(specifier)
  return path === undefined ? { closed: true } : { path }
}

/** Depth-first search; a file met again while it is still on the path closes a circle. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file])
    if (done.has(file) || path.includes(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return circles
}
