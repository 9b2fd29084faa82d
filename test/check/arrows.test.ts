import { describe, expect, test } from 'vitest'
import { engineArrows, packageArrows, violations } from './arrows.ts'
import { readTree } from './tree.ts'

/**
 * The arrows hold in the real tree, and each rule is shown to bite: a planted import that must be found stands beside one
 * that is allowed.
 */
const door = (name: string, ...subpaths: string[]) =>
  JSON.stringify({
    name: `@sluice/${name}`,
    exports: Object.fromEntries(
      ['.', ...subpaths].map((key) => [key, { '@sluice/source': `./src/${key.slice(2)}/index.ts`.replace('//', '/') }]),
    ),
  })

const house = {
  'packages/engine/package.json': door('engine', './testing'),
  'packages/local-postgres/package.json': door('local-postgres', './testing'),
  'packages/github/package.json': door('github'),
  'packages/collector/package.json': door('collector'),
  'packages/freshness/package.json': door('freshness'),
  'apps/server/package.json': door('server'),
  'apps/cli/package.json': door('cli'),
}
const find = (files: Record<string, string>) => violations(new Map(Object.entries({ ...house, ...files })))
const naming = (specifier: string) => `import { a } from '${specifier}'\n`

const planted: [rule: string, what: string, file: string, forbidden: string, allowed: string][] = [
  ['package', 'the engine knows no domain', 'packages/engine/src/job/a.ts', '@sluice/github', 'zod'],
  ['package', 'the ground floor does not look up', 'packages/github/src/a.ts', '@sluice/collector', 'pg'],
  ['package', 'an application stands on the ground floor', 'packages/collector/src/a.ts', '@sluice/server', '@sluice/engine'],
  ['package', 'an app imports no app', 'apps/server/src/a.ts', '@sluice/cli', '@sluice/collector'],
  ['package', 'nothing is built on the command line', 'packages/collector/src/a.ts', '@sluice/cli', '@sluice/engine'],
  ['door', 'no relative path out of a package', 'packages/collector/src/a.ts', '../../github/src/index.ts', '@sluice/github'],
  ['door', 'no subpath that is not exported', 'apps/server/src/a.ts', '@sluice/engine/job', '@sluice/engine/testing'],
  ['door', 'no door, no entry', 'apps/server/src/a.ts', '@sluice/unheard-of', '@sluice/freshness'],
  ['door', 'scripts and examples come by the door too', 'examples/a.ts', '../packages/engine/src/index.ts', '@sluice/engine'],
  ['door', 'the side door is for tests', 'scripts/a.ts', '#engine/job/a', './b.ts'],
  ['engine', 'no part knows the whole', 'packages/engine/src/worker/a.ts', '../engine.ts', '../job/b.ts'],
  ['engine', 'duties meet in engine.ts', 'packages/engine/src/worker/a.ts', '../maintenance/b.ts', '../lane/b.ts'],
  ['engine', 'nouns do not look up', 'packages/engine/src/job/a.ts', '../worker/b.ts', '../lane/b.ts'],
  ['engine', 'postgres knows no noun', 'packages/engine/src/postgres/a.ts', '../job/b.ts', '../support/b.ts'],
  ['engine', 'dispatch knows no noun', 'packages/engine/src/dispatch/a.ts', '../run/b.ts', '../postgres/b.ts'],
  ['engine', 'support is the bottom', 'packages/engine/src/support/a.ts', '../postgres/b.ts', './b.ts'],
  ['engine', 'testing stays out of production', 'packages/engine/src/engine.ts', './testing/b.ts', './worker/b.ts'],
]

describe('arrows', () => {
  test('the tree breaks none', () => {
    expect(violations(readTree())).toEqual([])
  })

  test.each(planted)('%s: %s', (rule, _what, file, forbidden, allowed) => {
    expect(find({ [file]: naming(forbidden) })).toContainEqual(expect.objectContaining({ rule, file, imports: forbidden }))
    expect(find({ [file]: naming(allowed) })).toEqual([])
  })

  test('a folder of the engine or a package without a row is found', () => {
    expect(find({ 'packages/engine/src/magic/a.ts': '' })).toMatchObject([
      { rule: 'row', file: 'packages/engine/src/magic/a.ts' },
    ])
    expect(find({ 'packages/magic/package.json': door('magic') })).toMatchObject([{ rule: 'row', file: 'packages/magic' }])
  })

  test('a circle of files is found, even between nouns and of types only', () => {
    const job = 'packages/engine/src/job/a.ts'
    const lane = 'packages/engine/src/lane/b.ts'
    expect(find({ [job]: "import type { b } from '../lane/b.ts'\n", [lane]: "export * from '../job/a.ts'\n" })).toMatchObject([
      { rule: 'cycle', imports: `${job} → ${lane} → ${job}` },
    ])
    expect(find({ [job]: naming('../lane/b.ts'), [lane]: naming('../support/c.ts') })).toEqual([])
  })

  test('a circle through doors is found', () => {
    const files = {
      'packages/collector/src/index.ts': naming('@sluice/freshness'),
      'packages/freshness/src/index.ts': naming('@sluice/collector'),
    }
    expect(find(files)).toMatchObject([{ rule: 'cycle' }])
  })

  test('test code may import anything', () => {
    expect(
      find({
        'packages/engine/src/support/a.test.ts': naming('../engine.ts'),
        'test/a.ts': naming('../packages/engine/src/a.ts'),
      }),
    ).toEqual([])
  })

  test('each row gives its reason', () => {
    for (const { because } of [...packageArrows, ...engineArrows]) expect(because).toMatch(/^\S.{20,}\.$/)
  })
})
