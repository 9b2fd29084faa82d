import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as documents from './check/document-rules.ts'
import * as rules from './check/tidy-rules.ts'
import { readTree, root, type Tree } from './check/tree.ts'

/**
 * Style that no linter knows. Each rule runs over the real tree, and over a planted breach beside a harmless neighbour, so
 * that a rule that stopped biting is noticed.
 */
const tree = readTree()
const files = (planted: Record<string, string>): Tree => new Map(Object.entries(planted))
const line = (count: number) => 'const a = 1\n'.repeat(count)
/** Written in pieces, because this file obeys the rules as well. */
const path = (...parts: string[]) => `"${['', ...parts].join('/')}"`
const inSupport = (text: string) => ({ 'packages/engine/src/support/a.ts': text })

const style: [sentence: string, rule: rules.Rule, breaches: Record<string, string>[], harmless: Record<string, string>[]][] = [
  [
    'no source file is longer than 300 lines, no test longer than 400',
    rules.smallFiles,
    [{ 'scripts/a.ts': line(301) }, { 'test/a.test.ts': line(401) }],
    [{ 'scripts/a.ts': line(300) }, { 'test/a.test.ts': line(400) }],
  ],
  [
    'no file or folder is called utils, helpers, types, common, misc or interfaces',
    rules.tellingNames,
    [{ 'packages/a/src/utils.ts': '' }, { 'packages/a/src/common/b.ts': '' }, { 'test/types.d.ts': '' }],
    [{ 'packages/a/src/kind-types-of.ts': '' }],
  ],
  [
    'every source file of a package opens with a header comment',
    rules.headers,
    [inSupport("import 'pg'\n/** Late. */\n"), inSupport('/** */\n'), inSupport('// A line.\n')],
    [inSupport('/**\n * Says what and why.\n */\n'), { 'packages/engine/src/a.test.ts': '' }],
  ],
  [
    'time and chance come in as arguments',
    rules.noAmbientTime,
    ['Date.now()', 'new Date()', 'Math.random()', 'setTimeout(a, 1)', 'setInterval(a, 1)'].map(inSupport),
    [inSupport('new Date(0) // not Date.now()'), { 'packages/engine/src/support/clock.ts': 'Date.now()' }],
  ],
  [
    'nothing is inherited but from Error',
    rules.noInheritance,
    [
      inSupport('class A extends B {}'),
      inSupport('const A = class extends a.B {}'),
      inSupport('class A<T> extends Map<T, T> {}'),
    ],
    [inSupport('class A extends Error {}\ninterface B extends C {}\ntype D<T extends E> = T')],
  ],
  [
    'no test is muted',
    rules.noMutedTests,
    ['only', 'skip', 'todo', 'concurrent.only'].map((word) => ({ 'test/a.test.ts': `test.${word}('a', () => {})` })),
    [{ 'test/a.test.ts': "describe.skipIf(isMissing('redis-server'))('a', () => {})" }],
  ],
  [
    'a door only re-exports',
    rules.doorsOnlyReexport,
    [{ 'packages/a/src/index.ts': "/** Door. */\nexport { a } from './a.ts'\nexport const b = 1\n" }],
    [
      {
        'packages/a/src/index.ts':
          "/** Door. */\nexport {\n  a,\n} from './a.ts'\nexport type { B } from './b.ts'\nexport * as c from './c.ts'\n",
      },
    ],
  ],
  [
    'no file holds a path of one machine',
    rules.noMachinePaths,
    [
      { 'docs/a.md': path('tmp', 'a') },
      { 'a.ts': path('home', 'ann', 'b') },
      { 'b.ts': path('work') },
      { 'c.ts': path('etc', 'hosts') },
    ],
    [{ 'a.ts': `${path('var', 'lib', 'sluice')} 'https://a.example/home/b' './tmp/a' 'either/or/root'` }],
  ],
  [
    'no lock file holds a registry host',
    rules.noRegistryHosts,
    [{ 'bench/package-lock.json': '{ "resolved": "https://a.example/b.tgz" }' }, { '.npmrc': 'registry=https://a.example' }],
    [{ 'package-lock.json': '"resolved": "packages/engine", "url": "https://opencollective.com/biome"' }],
  ],
  [
    'every lock file has the builds of every platform',
    rules.completeLocks,
    [{ 'package-lock.json': '{ "packages": { "node_modules/a": { "optionalDependencies": { "@a/darwin-arm64": "1.2.3" } } } }' }],
    [
      {
        'package-lock.json':
          '{ "packages": { "node_modules/a": { "optionalDependencies": { "@a/b": "1.2.3" } }, "node_modules/a/node_modules/@a/b": {} } }',
      },
    ],
  ],
]

describe('style', () => {
  test.each(style)('%s', (_sentence, rule, breaches, harmless) => {
    for (const planted of breaches) expect(rule(files(planted)), JSON.stringify(planted)).toHaveLength(1)
    for (const planted of harmless) expect(rule(files(planted)), JSON.stringify(planted)).toEqual([])
    expect(rule(tree)).toEqual([])
  })
})

describe('documents', () => {
  const load = async (file: string): Promise<Record<string, any>> => import(/* @vite-ignore */ join(root, file))

  test('every error code is documented, and every documented code exists', async () => {
    expect(documents.errorCodes(['A_B', 'C_D'], '| `A_B` | … |\n## `E_F`\n')).toEqual([
      'C_D is not documented',
      'E_F is documented but does not exist',
    ])
    const { errorTable } = await load('packages/engine/src/support/errors.ts')
    const { localPostgresErrors } = await load('packages/local-postgres/src/errors.ts')
    const { roleErrors } = await load('apps/server/src/roles/errors.ts')
    const { githubErrors } = await load('packages/github/src/errors.ts')
    const { collectorErrors } = await load('packages/collector/src/errors.ts')
    const codes = Object.keys({ ...errorTable, ...localPostgresErrors, ...roleErrors, ...githubErrors, ...collectorErrors })
    expect(documents.errorCodes(codes, documents.read(tree, 'docs/errors.md'))).toEqual([])
  })

  test('the moves in lifecycle.ts and in the diagram agree', async () => {
    const diagram = '```mermaid\nstateDiagram-v2\n  [*] --> a\n  a --> b: by hand\n  b --> [*]\n  b --> c\n```\n'
    expect(documents.lifecycle({ a: ['b', 'c'], b: [] }, diagram)).toEqual([
      'a → c is legal but not drawn',
      'b → c is drawn but not legal',
    ])
    const { moves } = await load('packages/engine/src/job/lifecycle.ts')
    expect(documents.lifecycle(moves, documents.read(tree, 'docs/job-lifecycle.md'))).toEqual([])
  })

  test('[Q-01] every guarantee names a test that exists', () => {
    const table =
      '| promise | proof |\n|---|---|\n| a | `test/a.test.ts` – "b" |\n| c | `test/a.test.ts` – "d" |\n| e | soon |\n| f | `g.ts` "h" |\n'
    expect(documents.guarantees(table, files({ 'test/a.test.ts': "test('b')" }))).toEqual([
      'no test is named in: | e | soon |',
      'test/a.test.ts has no test "d"',
      'g.ts does not exist',
    ])
    expect(documents.guarantees(documents.read(tree, 'docs/guarantees.md'), tree)).toEqual([])
  })

  test('the changelog starts with Unreleased', () => {
    expect(documents.changelog('# Changelog\n\n## 1.0.0\n\n## Unreleased\n')).toHaveLength(1)
    expect(documents.changelog(documents.read(tree, 'CHANGELOG.md'))).toEqual([])
  })

  test('a migration, once released, never changes', () => {
    const sha256 = createHash('sha256').update('select 1').digest('hex')
    const released = JSON.stringify({ '0001.sql': sha256, '0002.sql': sha256, '0003.sql': sha256 })
    const planted = files({ 'm/released.json': released, 'm/0001.sql': 'select 1', 'm/0002.sql': 'select 2' })
    expect(documents.releasedMigrations('m', planted)).toMatchObject(
      [/0002.sql was .* changed/, /0003.sql was .* gone/].map((text) => expect.stringMatching(text)),
    )
    expect(documents.releasedMigrations('packages/engine/migrations', tree)).toEqual([])
  })

  test('every dependency is listed with its reason', () => {
    const planted = files({
      'package.json': JSON.stringify({ dependencies: { a: '1', '@b/c': '1', d: '1' }, devDependencies: { e: '1' } }),
    })
    const table =
      '| `x` | of no interest here |\n\n## Dependencies\n\n| what | why |\n|---|---|\n| `a`, `@b/*` | for a good reason |\n| `d` | – |\n| `f` | for a good reason |\n'
    expect(documents.dependencies(table, planted)).toEqual([
      'd (package.json) is used without a reason in CONTRIBUTING.md',
      'e (package.json) is used without a reason in CONTRIBUTING.md',
      'f is explained in CONTRIBUTING.md but used nowhere',
    ])
    expect(documents.dependencies(documents.read(tree, 'CONTRIBUTING.md'), tree)).toEqual([])
  })
})
