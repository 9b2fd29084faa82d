/** The master key as a file. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { KeyRing } from './key-ring.ts'
import { generateMasterKey } from './master-key.ts'
import { addMasterKey, createMasterKeyFile } from './master-key-file.ts'

const test = base.extend<{ folder: string }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-key-'))
    await use(folder)
    await rm(folder, { recursive: true })
  },
})
const about = { purpose: 'test', name: 'a' }

test('[O-10] the first start makes a key that only its owner reads, and later ones find it', async ({ folder }) => {
  const file = join(folder, 'data', 'master.key')
  const made = await KeyRing.fromEnvOrFile({ file, missing: 'create' })
  const found = await KeyRing.fromEnvOrFile({ file })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700)
  expect(found?.open(made?.seal('value', about) ?? '', about).reveal()).toBe('value')
  expect(await readdir(join(folder, 'data'))).toEqual(['master.key'])
})

test('[O-10] processes that start at the same moment agree on one key', async ({ folder }) => {
  const file = join(folder, 'master.key')
  const rings = await Promise.all(Array.from({ length: 20 }, () => KeyRing.fromEnvOrFile({ file, missing: 'create' })))
  expect(new Set(rings.map((ring) => ring?.current)).size).toBe(1)
  expect(await readdir(folder)).toEqual(['master.key'])
})

test('[O-10] whoever comes second to make a key gets that of the first', async ({ folder }) => {
  const file = join(folder, 'master.key')
  const first = await createMasterKeyFile(file)
  expect(await createMasterKeyFile(file)).toBe(first)
  expect(await readdir(folder)).toEqual(['master.key'])
})

test.for([0o644, 0o640, 0o604, 0o622, 0o666])(
  '[O-10] a key file of mode %o is refused, and the message says what to do',
  async (mode, { folder }) => {
    const file = join(folder, 'master.key')
    await writeFile(file, generateMasterKey())
    await chmod(file, mode)
    for (const missing of ['create', 'refuse', 'go on'] as const)
      await expect(KeyRing.fromEnvOrFile({ file, missing })).rejects.toThrow(
        `The master key of ${file} cannot be used: can be read by others (mode ${mode.toString(8)}); run chmod 600 on it.`,
      )
  },
)

test('[O-10] an empty, broken or endless file is refused and left alone', async ({ folder }) => {
  const file = join(folder, 'master.key')
  for (const [text, problem] of [
    ['', 'holds no key'],
    ['rubbish', 'key 1'],
    ['x'.repeat(20_000), 'has 20000 bytes'],
  ] as const) {
    await writeFile(file, text, { mode: 0o600 })
    await expect(KeyRing.fromEnvOrFile({ file, missing: 'create' })).rejects.toMatchObject({
      code: 'MASTER_KEY_INVALID',
      message: expect.stringContaining(problem),
    })
    expect(await readFile(file, 'utf8')).toBe(text)
  }
  await expect(KeyRing.fromEnvOrFile({ file: folder })).rejects.toMatchObject({ code: 'MASTER_KEY_INVALID' })
})

test('[O-10] where there is no file it is made, refused or gone without, as asked', async ({ folder }) => {
  const file = join(folder, 'none')
  await expect(KeyRing.fromEnvOrFile({ file })).rejects.toThrow(`The master key of ${file} cannot be used: does not exist.`)
  expect(await KeyRing.fromEnvOrFile({ file, missing: 'go on' })).toBeUndefined()
  expect(await KeyRing.fromEnvOrFile({})).toBeUndefined()
  expect(await readdir(folder)).toEqual([])
})

test('[O-10] the environment goes before the file', async ({ folder }) => {
  const file = join(folder, 'master.key')
  const text = generateMasterKey()
  expect((await KeyRing.fromEnvOrFile({ text, file, missing: 'create' }))?.current).toBe(KeyRing.fromText(text).current)
  expect(await readdir(folder)).toEqual([])
  expect((await KeyRing.fromEnvOrFile({ text: '', file, missing: 'create' }))?.ids).toHaveLength(1)
})

test('[O-10] a new key is put before the old one, which goes on opening', async ({ folder }) => {
  const file = join(folder, 'master.key')
  const old = await KeyRing.fromEnvOrFile({ file, missing: 'create' })
  await addMasterKey(file)
  const both = await KeyRing.fromEnvOrFile({ file })
  expect(both?.ids).toEqual([both?.current, old?.current])
  expect(both?.current).not.toBe(old?.current)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(both?.open(old?.seal('value', about) ?? '', about).reveal()).toBe('value')
  expect(await readdir(folder)).toEqual(['master.key'])
  await expect(addMasterKey(join(folder, 'none'))).rejects.toThrow('does not exist')
})
