import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callable, checkOptions, optional, text, texts } from './options.ts'
import { scratchFolder } from './scene/scratch-folder.ts'
import { type LocalPostgresOptions, startLocalPostgres } from './start-local-postgres.ts'
import { createTestDatabase, type TestDatabaseOptions } from './testing/test-database.ts'
import { startTestServer, type TestServerOptions } from './testing/test-server.ts'

const checks = { folder: text('a folder'), log: optional(callable('a function')), settings: optional(texts('names and texts')) }
const refusal = (message: string) => expect.objectContaining({ code: 'LOCAL_POSTGRES_OPTION', message })

test.each([
  [undefined, 'start: takes an object with folder, log and settings, and was given nothing'],
  [null, 'start: takes an object with folder, log and settings, and was given null'],
  [['x'], 'start: takes an object with folder, log and settings, and was given a list'],
  ['x', 'start: takes an object with folder, log and settings, and was given a string'],
  [{ fodler: 'x' }, 'start: has no "fodler"; it takes folder, log and settings'],
  [{ toString: 'x' }, 'start: has no "toString"; it takes folder, log and settings'],
  [{}, 'folder of start: is missing; give a folder'],
  [{ folder: new URL('file:///x') }, 'folder of start: is an object; give a folder'],
  [{ folder: '' }, 'folder of start: is empty; give a folder'],
  [{ folder: 'x\0' }, 'folder of start: holds a NUL character; give a folder'],
  [{ folder: 'x', log: 'loud' }, 'log of start: is a string; give a function'],
  [{ folder: 'x', settings: ['a'] }, 'settings of start: is a list; give names and texts'],
  [{ folder: 'x', settings: { a: 'b', c: 5 } }, 'settings of start: has a c that is a number; give names and texts'],
])('[O-02] of the options %j it is said what is wrong and what to give', (given, message) => {
  expect(() => checkOptions('start', given as { folder: string; log: unknown; settings: unknown }, checks)).toThrow(
    refusal(`Option ${message}.`),
  )
})

test('[O-02] options that may be left out may be undefined as well', () => {
  const given = { folder: 'x', log: undefined, settings: undefined }
  expect(() => checkOptions('start', given, checks)).not.toThrow()
})

test('[O-02] a local PostgreSQL whose options are wrong is not made', async () => {
  const dataFolder = join(scratchFolder(), 'data')
  const options = { dataFolder, log: 'loud' } as unknown as LocalPostgresOptions
  await expect(startLocalPostgres(options)).rejects.toMatchObject({
    code: 'LOCAL_POSTGRES_OPTION',
    message: expect.stringMatching(/^Option log of startLocalPostgres: is a string; /),
  })
  expect(existsSync(dataFolder)).toBe(false)
})

test.each([
  [async () => {}, /^Option startTestServer: takes an object with prepare, settings and binaries, and was given a function\.$/],
  [{ prepare: 'migrate' }, /^Option prepare of startTestServer: is a string; give a function /],
  [{ prepared: 'migrate' }, /^Option startTestServer: has no "prepared"; /],
])('[O-02] a test server with %o is refused by name', async (options, message) => {
  const starting = startTestServer(options as unknown as TestServerOptions)
  await expect(starting).rejects.toMatchObject({ code: 'LOCAL_POSTGRES_OPTION', message: expect.stringMatching(message) })
})

test.each([
  [undefined, /^Option createTestDatabase: takes an object with serverUrl and template, and was given nothing\.$/],
  [{ serverUrl: 'postgresql://a/b' }, /^Option template of createTestDatabase: is missing; /],
  [
    { serverUrl: 'user:secret@host', template: 'template1' },
    /^Option serverUrl of createTestDatabase: is no URL of PostgreSQL; (?!.*secret)/,
  ],
])('[O-02] a test database of %j is refused by name', async (options, message) => {
  const making = createTestDatabase(options as unknown as TestDatabaseOptions)
  await expect(making).rejects.toMatchObject({ code: 'LOCAL_POSTGRES_OPTION', message: expect.stringMatching(message) })
})
