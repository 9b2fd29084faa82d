import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { test as base, describe, expect } from 'vitest'
import { scratchFolder } from '../../../../test/support/scratch-folder.ts'
import { ConfigError } from './config-error.ts'
import { describeConfig, withoutPassword } from './describe-config.ts'
import { type FieldName, fields, fileName } from './fields.ts'
import { nearest } from './nearest.ts'
import { readConfig, type Sources } from './read-config.ts'

const test = base.extend<{ cwd: string }>({ cwd: scratchFolder })

const write = (cwd: string, content: unknown): void =>
  writeFileSync(join(cwd, fileName), typeof content === 'string' ? content : JSON.stringify(content))

function problemsOf(sources: Sources): readonly string[] {
  try {
    readConfig(sources)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

describe('[O-06] configuration', () => {
  test('[O-06] without a word everything has its default, and says so', ({ cwd }) => {
    const { origins, warnings, ...values } = readConfig({ env: {}, cwd })
    expect(values).toEqual({
      database: undefined,
      data: join(cwd, '.sluice'),
      host: '127.0.0.1',
      port: 7070,
      healthPort: undefined,
      load: [],
      pools: { light: { core: 5, max: 10 }, heavy: { core: 3, max: 5 } },
      requireKeys: false,
      masterKey: undefined,
      masterKeyFile: join(cwd, '.sluice', 'master.key'),
      logLevel: 'info',
      logFormat: 'auto',
      keepDays: 30,
      lease: '10s',
      grace: '30s',
      githubUrl: 'https://api.github.com',
      githubFloor: 100,
      collectDaily: true,
      cwd,
    })
    expect(new Set(Object.values(origins).map(({ from }) => from))).toEqual(new Set(['default']))
    expect(warnings).toEqual([])
  })

  test('[O-06] a flag comes before a variable, a variable before the file, the file before the default', ({ cwd }) => {
    write(cwd, { port: 1, host: 'file.example', keepDays: 3, requireKeys: true })
    const config = readConfig({ flags: { port: '2' }, env: { SLUICE_PORT: '4', SLUICE_HOST: 'variable.example' }, cwd })
    expect([config.port, config.host, config.keepDays, config.lease]).toEqual([2, 'variable.example', 3, '10s'])
    const { port, host, keepDays, lease } = config.origins
    expect([port, host, keepDays, lease]).toEqual([
      { from: 'flag', place: '--port' },
      { from: 'variable', place: 'SLUICE_HOST' },
      { from: 'file', place: fileName },
      { from: 'default', place: '10s' },
    ])
  })

  test('[O-06] whatever the three sources hold, the value and its origin are those of the strongest that speaks', ({ cwd }) => {
    const port = fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined })
    fc.assert(
      fc.property(port, port, port, (flag, variable, inFile) => {
        write(cwd, inFile === undefined ? {} : { port: inFile })
        const { port, origins } = readConfig({
          flags: flag === undefined ? {} : { port: String(flag) },
          env: variable === undefined ? { SLUICE_PORT: '' } : { SLUICE_PORT: String(variable) },
          cwd,
        })
        const from = flag !== undefined ? 'flag' : variable !== undefined ? 'variable' : inFile !== undefined ? 'file' : 'default'
        expect([port, origins.port.from]).toEqual([flag ?? variable ?? inFile ?? 7070, from])
      }),
    )
  })

  test('[O-06] paths in the file mean its folder, paths in flags and variables the folder of the command', ({ cwd }) => {
    mkdirSync(join(cwd, 'etc'))
    write(join(cwd, 'etc'), { data: 'd', load: ['./a.js', 'a-package'] })
    const config = readConfig({ env: {}, file: `etc/${fileName}`, cwd })
    expect([config.data, config.load]).toEqual([join(cwd, 'etc', 'd'), [join(cwd, 'etc', 'a.js'), 'a-package']])
    const other = readConfig({ flags: { load: ['./b.js'] }, env: { SLUICE_DATA: 'e', SLUICE_CONFIG: `etc/${fileName}` }, cwd })
    expect([other.data, other.load]).toEqual([join(cwd, 'e'), [join(cwd, 'b.js')]])
  })

  const wrong: [sentence: string, sources: Partial<Sources>, file: unknown, told: RegExp][] = [
    ['a flag', { flags: { port: '70000' } }, {}, /^--port 70000 is not usable: write a whole number from 0 to 65535/],
    ['a variable', { env: { SLUICE_PORT: 'x' } }, {}, /^SLUICE_PORT=x is not usable: write a whole number/],
    ['a field of the file', {}, { port: '7070' }, /^port 7070 in sluice\.config\.json is not usable: write a whole number/],
    [
      'a field in a field',
      {},
      { pools: { light: { core: 9, max: 2 } } },
      /\(light\.core\) is not usable: core is above max; write/,
    ],
    [
      'pools as text',
      { env: { SLUICE_POOLS: 'light=5-10,light=1' } },
      {},
      /^SLUICE_POOLS=.* is not usable: .* ?write light=5-10/,
    ],
    ['a negative number', { flags: { keepDays: '-1' } }, {}, /^--keep-days -1 is not usable/],
    ['a lease nobody can keep', { flags: { lease: '10ms' } }, {}, /^--lease 10ms is not usable: write a duration from 500ms/],
    ['a duration without a unit', { env: { SLUICE_GRACE: '30' } }, {}, /^SLUICE_GRACE=30 is not usable/],
    ['a word for yes or no', { env: { SLUICE_REQUIRE_KEYS: 'perhaps' } }, {}, /write true or false/],
    [
      'an address with a password',
      { env: { DATABASE_URL: 'mysql://a:hunter2@b/c' } },
      {},
      /^DATABASE_URL is not usable: write an/,
    ],
    [
      'an address of GitHub with a password',
      { env: { GITHUB_API_URL: 'https://a:hunter2@b.example' } },
      {},
      /^GITHUB_API_URL is not usable: write an address such as https:/,
    ],
    [
      'more floor than budget',
      { flags: { githubFloor: '5000' } },
      {},
      /^--github-floor 5000 is not usable: write a whole number/,
    ],
    ['a field nobody knows', {}, { prot: 1 }, /^prot in sluice\.config\.json is no field\. Did you mean port\?$/],
    ['a field like no other', {}, { zzzzzzzz: 1 }, /is no field\. There are: database, redis, data,/],
    ['a wrong address of Redis', { env: { REDIS_URL: 'http://a:hunter2@b' } }, {}, /^REDIS_URL is not usable: write an/],
    ['a secret in the file', {}, { masterKey: 'a' }, /does not belong into sluice\.config\.json.*SLUICE_MASTER_KEY/],
    ['a list', {}, [1], /holds no object/],
    ['what is no JSON', {}, '{\n  "port": 1,\n}', /is no JSON: line 3, column 1/],
    ['a file that is not there', { file: 'no.json' }, {}, /^no\.json: there is no such file/],
    ['an open door', { flags: { host: '0.0.0.0' }, env: { SLUICE_REQUIRE_KEYS: 'no' } }, {}, /requireKeys is false \(SLUICE_REQ/],
    [
      'two master keys',
      { env: { SLUICE_MASTER_KEY: 'a', SLUICE_MASTER_KEY_FILE: 'b' } },
      {},
      /two master keys, SLUICE_MASTER_KEY and/,
    ],
  ]
  test.for(wrong)('[O-06] %s that is wrong is named with its place and what to write', ([, sources, file, told], { cwd }) => {
    write(cwd, file)
    const problems = problemsOf({ env: {}, cwd, ...sources })
    expect(problems).toEqual([expect.stringMatching(told)])
    expect(problems.join()).not.toContain('hunter2')
  })

  test('[O-06] all that is wrong is told at once', ({ cwd }) => {
    write(cwd, { prot: 1, keepDays: 0 })
    expect(problemsOf({ flags: { port: 'x' }, env: { SLUICE_LOG_LEVEL: 'loud' }, cwd })).toHaveLength(4)
  })

  test('[O-06] nothing that is written anywhere makes it fail without a reason', ({ cwd }) => {
    const names = fields.map(({ name }) => name)
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names, '__proto__', 'toString'), fc.jsonValue()),
        fc.dictionary(fc.constantFrom(...fields.map(({ variable }) => variable)), fc.string()),
        (inFile, env) => {
          write(cwd, inFile)
          for (const problem of problemsOf({ env, cwd })) expect(problem).toMatch(/\.$|\?$/)
        },
      ),
    )
  })

  test('[O-06] a variable that looks like ours and is not is warned about', ({ cwd }) => {
    expect(readConfig({ env: { SLUICE_PROT: '1', SLUICE_XXXXXXXXXX: '1', PORT: '1' }, cwd }).warnings).toEqual([
      'SLUICE_PROT is set, but there is no such variable. Did you mean SLUICE_PORT?',
      expect.stringContaining('SLUICE_XXXXXXXXXX is set'),
    ])
  })

  test('[O-09] whoever listens for others asks for keys without being told', ({ cwd }) => {
    const requires = (host: string): boolean => readConfig({ flags: { host }, env: {}, cwd }).requireKeys
    expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].map(requires)).toEqual([false, false, false, false])
    expect(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com'].map(requires)).toEqual(Array(5).fill(true))
  })
})

describe('[O-10] what is shown of it', () => {
  test('[O-10] the description has every field and no secret', ({ cwd }) => {
    const config = readConfig({
      env: { DATABASE_URL: 'postgresql://ann:hunter2@db.example/app?sslpassword=hunter3', SLUICE_MASTER_KEY: 'hunter4' },
      cwd,
    })
    const described = describeConfig(config)
    expect(described.map(({ name }) => name)).toEqual(fields.map(({ name }) => name))
    expect(JSON.stringify(described)).not.toMatch(/hunter/)
    const shown = (name: FieldName): unknown => described.find((one) => one.name === name)
    expect(shown('database')).toMatchObject({
      value: expect.stringContaining('ann:redacted@db.example/app'),
      place: 'DATABASE_URL',
    })
    expect(shown('masterKey')).toMatchObject({ value: '[redacted]', from: 'variable' })
  })

  test('[O-10] no password survives, whatever it is made of', () => {
    const piece = fc.stringMatching(/^[a-z]{3,10}$/)
    fc.assert(
      fc.property(piece, (word) => {
        const secret = `x9q${word}`
        const address = `postgresql://ann:${secret}@h/d?password=${secret}`
        expect(withoutPassword(address)).not.toContain(secret)
      }),
    )
    expect(withoutPassword('no address, hunter2')).toBe('[redacted]')
  })
})

test('[O-06] did you mean: one letter missing, doubled, changed or swapped still finds the word', () => {
  const known = fields.map(({ name }) => name)
  fc.assert(
    fc.property(fc.constantFrom(...known.filter((name) => name.length > 3)), fc.nat(), fc.nat(2), (name, seed, how) => {
      const at = 1 + (seed % (name.length - 2))
      const [before, letter, after] = [name.slice(0, at), name.slice(at, at + 1), name.slice(at + 1)]
      const typed = [before + after, before + letter + letter + after, before + after.slice(0, 1) + letter + after.slice(1)][how]
      expect(nearest(typed as string, known)).toBe(name)
    }),
  )
  expect(nearest('something else', known)).toBeUndefined()
})

test('[O-06] every field is on the page about configuration, with its flag and its variable', async () => {
  const { readFile } = await import('node:fs/promises')
  const page = await readFile(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8')
  for (const { name, flag, variable } of fields) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``))
    expect(row, name).toBeDefined()
    expect(row, name).toContain(`\`${variable}\``)
    if (flag) expect(row, name).toContain(`\`${flag.split(' ')[0]}\``)
  }
})
