import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { scratchFolder } from '../../../../test/support/scratch-folder.ts'
import { readConfig } from '../config/read-config.ts'
import { type Loaded, loadModules } from './load-modules.ts'

const engine = new URL('../../../../packages/engine/dist/index.js', import.meta.url).href
const head = `import { defineEvent, defineKind, defineRun, defineSchedule } from '${engine}'\n`

const test = base.extend<{ cwd: string; load: (source: string, name?: string) => Promise<Loaded> }>({
  cwd: scratchFolder,
  load: async ({ cwd }, use) => {
    await use((source, name = 'jobs.mjs') => {
      writeFileSync(join(cwd, name), head + source)
      return loadModules(readConfig({ flags: { load: [`./${name}`] }, env: {}, cwd }))
    })
  },
})

test('[O-01] a module brings what it exports, by name', async ({ load }) => {
  const loaded = await load(`
    const mail = defineKind('mail', { run() {} })
    export const kinds = [mail]
    export const runs = [defineRun('import', { plan() {} })]
    export const schedules = [defineSchedule('daily', { cron: '0 0 * * *', job: mail({}) })]
    export const events = [defineEvent('paid')]
    export const lanes = { 'mail:*': { cap: 2 } }
    export const services = { greeting: 'hello' }
    export const somethingElse = 1`)
  expect(loaded.kinds.map(({ kindName }) => kindName)).toEqual(['mail'])
  expect(loaded.runs.map(({ kindName }) => kindName)).toEqual(['import'])
  expect(loaded.schedules.map(({ name }) => name)).toEqual(['daily'])
  expect(loaded.events.map(({ eventName }) => eventName)).toEqual(['paid'])
  expect([loaded.lanes, loaded.services]).toEqual([{ 'mail:*': { cap: 2 } }, { greeting: 'hello' }])
})

test('[O-01] or in its default export', async ({ load }) => {
  const loaded = await load(`export default { kinds: [defineKind('mail', { run() {} })] }`)
  expect(loaded.kinds).toHaveLength(1)
})

test('[O-01] several modules come together, and a package is found where the command was given', async ({ cwd, load }) => {
  mkdirSync(join(cwd, 'node_modules', 'a-package'), { recursive: true })
  writeFileSync(
    join(cwd, 'node_modules', 'a-package', 'package.json'),
    JSON.stringify({ name: 'a-package', type: 'module', main: 'm.js' }),
  )
  writeFileSync(
    join(cwd, 'node_modules', 'a-package', 'm.js'),
    `${head}export const kinds = [defineKind('b', { run() {} })]\nexport const lanes = { 'x:*': {} }`,
  )
  await load(`export const kinds = [defineKind('a', { run() {} })]\nexport const lanes = { 'y:*': {} }`)
  const both = await loadModules(readConfig({ env: { SLUICE_LOAD: './jobs.mjs,a-package' }, cwd }))
  expect(both.kinds.map(({ kindName }) => kindName)).toEqual(['a', 'b'])
  expect(Object.keys(both.lanes)).toEqual(['y:*', 'x:*'])
})

const broken: [sentence: string, source: string, code: string, told: RegExp][] = [
  [
    'that throws',
    `throw new Error('no password given')`,
    'MODULE_BROKEN',
    /jobs\.mjs could not be loaded: Error: no password given\.$/,
  ],
  ['that is no JavaScript', 'export const kinds = [', 'MODULE_BROKEN', /^The module jobs\.mjs could not be loaded/],
  ['that imports what is missing', `import 'not-installed'`, 'MODULE_BROKEN', /Cannot find package 'not-installed'/],
  ['that exports nothing of ours', 'export const kind = []', 'MODULE_WRONG', /exports none of kinds,.*did you mean kinds\.$/],
  [
    'whose default has a typing error',
    'export default { kinds: [], shedules: [] }',
    'MODULE_WRONG',
    /"shedules", did you mean schedules/,
  ],
  ['with one kind instead of a list', `export const kinds = defineKind('a', { run() {} })`, 'MODULE_WRONG', /kinds is no list/],
  ['with a plain function', 'export const kinds = [() => {}]', 'MODULE_WRONG', /kinds\[0\] was not made with defineKind/],
  [
    'with a run among its kinds',
    `export const kinds = [defineRun('a', { plan() {} })]`,
    'MODULE_WRONG',
    /kinds\[0\] was not made/,
  ],
  ['with a list of lanes', 'export const lanes = []', 'MODULE_WRONG', /lanes is no object/],
]
test.for(broken)('[O-01] a module %s is refused with its name and the reason', async ([, source, code, told], { load }) => {
  await expect(load(source)).rejects.toMatchObject({ code, message: expect.stringMatching(told) })
})

test('[O-01] a module that is not there is refused with where it was named', async ({ cwd }) => {
  const config = readConfig({ env: { SLUICE_LOAD: './nowhere.js' }, cwd })
  await expect(loadModules(config)).rejects.toMatchObject({
    code: 'MODULE_NOT_FOUND',
    message: expect.stringContaining('(SLUICE_LOAD)'),
  })
})
