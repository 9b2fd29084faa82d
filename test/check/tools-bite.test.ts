import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { read } from './document-rules.ts'
import { readTree, root } from './tree.ts'

/**
 * A check that finds nothing looks just like a check that is switched off. So each tool, run by the very command that
 * `npm run check` runs and with our own settings, gets a small house with one planted fault and has to name it; the same
 * house without a fault has to pass.
 */
const settings = ['.gitignore', '.oxlintrc.json', 'biome.json', 'knip.json', 'tsconfig.base.json']
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
const clean = {
  'package.json': json({ name: 'planted', private: true, type: 'module', workspaces: ['packages/*'] }),
  'tsconfig.json': '{ "files": [], "references": [{ "path": "packages/planted" }] }\n',
  'packages/planted/package.json': json({
    name: '@sluice/planted',
    type: 'module',
    exports: { '.': { '@sluice/source': './src/index.ts' } },
  }),
  'packages/planted/tsconfig.json': '{ "extends": "../../tsconfig.base.json", "compilerOptions": { "outDir": "dist" } }\n',
  'packages/planted/src/index.ts': "/** The door. */\nexport { answer } from './answer.ts'\n",
  'packages/planted/src/answer.ts': `/** Answers. */
type State = 'ready' | 'running'

export async function answer(states: readonly State[]): Promise<number[]> {
  const numbers = states.map((state) => {
    switch (state) {
      case 'ready':
        return 1
      case 'running':
        return 2
    }
  })
  return Promise.all(numbers.map(async (number) => number + 1))
}
`,
}

const faults: [tool: string, fault: string, text: string, named: RegExp][] = [
  ['tsc', 'a type that does not fit', "export const a: number = 'b'", /TS2322/],
  ['biome', 'bad formatting', "export const a = {b:'c'}", /planted\.ts format/],
  [
    'biome',
    'imports out of order',
    "import { b } from './b.ts'\nimport { a } from './a.ts'\n\nexport { a, b }",
    /organizeImports/,
  ],
  ['oxlint', 'a floating promise', 'export function a(b: () => Promise<void>) {\n  b()\n}', /no-floating-promises/],
  ['oxlint', 'a floating promise of a Node module', "import { rm } from 'node:fs/promises'\n\nrm('a')", /no-floating-promises/],
  ['oxlint', 'a misused promise', 'export const a = (b: () => Promise<boolean>) => (b() ? 1 : 2)', /no-misused-promises/],
  [
    'oxlint',
    'an async callback that nobody awaits',
    'export const a = (b: number[]) => b.forEach(async () => {})',
    /no-misused-promises/,
  ],
  ['oxlint', 'an await of what is no promise', 'export const a = async (b: number) => await b', /await-thenable/],
  [
    'oxlint',
    'a switch that misses a case',
    "export function a(b: 'c' | 'd') {\n  switch (b) {\n    case 'c':\n      return 1\n    default:\n  }\n  return 2\n}",
    /switch-exhaustiveness-check/,
  ],
  ['oxlint', 'an explicit any', 'export const a = (b: any) => String(b)', /no-explicit-any/],
  ['oxlint', 'an any that leaks in', 'export const a = (b: string): { c: 1 } => JSON.parse(b)', /no-unsafe-return/],
  ['oxlint', 'a word to the console', "console.log('a')", /no-console/],
  ['knip', 'a file that nobody imports', 'export const a = 1', /Unused files[\s\S]*planted\.ts/],
]

const scripts = (JSON.parse(read(readTree(), 'package.json')) as { scripts: Record<string, string> }).scripts
const commands = `${scripts['build']} && ${scripts['check']}`.split('&&').map((command) => command.trim())
const houses: string[] = []

afterEach(async () => {
  await Promise.all(houses.splice(0).map((house) => rm(house, { recursive: true })))
})

async function build(files: Record<string, string>): Promise<string> {
  const house = await mkdtemp(join(tmpdir(), 'sluice-planted-'))
  houses.push(house)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(house, dirname(path)), { recursive: true })
    await writeFile(join(house, path), text)
  }
  await Promise.all(settings.map((name) => copyFile(join(root, name), join(house, name))))
  await symlink(join(root, 'node_modules'), join(house, 'node_modules'))
  return house
}

/** Runs the command of `npm run check` that starts with this tool. */
function run(tool: string, house: string): Promise<{ failed: boolean; output: string }> {
  const [name = '', ...rest] = commands.find((command) => command.startsWith(tool))?.split(' ') ?? []
  const program = join(root, 'node_modules/.bin', name)
  return new Promise((resolve) =>
    execFile(program, rest, { cwd: house, env: { ...process.env, NO_COLOR: '1' } }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, output: stdout + stderr }),
    ),
  )
}

test.each(['tsc', 'biome', 'oxlint', 'knip'])('%s passes a clean house', async (tool) => {
  const { failed, output } = await run(tool, await build(clean))
  expect(failed, output).toBe(false)
})

test.each(faults)('%s names %s', async (tool, _fault, text, named) => {
  const house = await build({ ...clean, 'packages/planted/src/planted.ts': `${text}\n` })
  expect(await run(tool, house)).toEqual({ failed: true, output: expect.stringMatching(named) })
})

test('knip names an export that nobody uses', async () => {
  const text = `${clean['packages/planted/src/answer.ts']}\nexport const unused = 1\n`
  const house = await build({ ...clean, 'packages/planted/src/answer.ts': text })
  expect(await run('knip', house)).toEqual({ failed: true, output: expect.stringMatching(/Unused exports[\s\S]*unused/) })
})
