import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { Holder } from '../scene/hold-server.ts'
import { copyPackageWithoutLinks, scratchFolder } from '../scene/scratch-folder.ts'
import { startLocalPostgres } from '../start-local-postgres.ts'

vi.setConfig({ testTimeout: 120_000 })

const isRoot = process.getuid?.() === 0

test('[O-02] starts from a package whose install script did not run', async () => {
  const scratch = scratchFolder()
  const binaries = copyPackageWithoutLinks(scratch)
  const server = await startLocalPostgres({ dataFolder: join(scratch, 'data'), binaries })
  expect(existsSync(join(binaries, '..', 'lib', 'libpq.so.5'))).toBe(true)
  await server.stop()
})

test.runIf(isRoot)(
  '[O-02] below a folder of mode 700, root’s binaries are copied once, also by processes at the same time',
  async () => {
    const scratch = scratchFolder()
    const closed = join(scratch, 'home')
    mkdirSync(closed, { mode: 0o700 })
    const places = { binaries: copyPackageWithoutLinks(closed), systemFolder: join(scratch, 'system') }
    const holders = ['one', 'two', 'three'].map((name) => new Holder({ ...places, dataFolder: join(scratch, name) }))
    await Promise.all(holders.map((holder) => holder.next('started')))
    expect(readdirSync(places.systemFolder)).toEqual([expect.stringMatching(/^postgres-18\.4\.0-beta\.17-/)])
    await Promise.all(holders.map((holder) => holder.stop()))
  },
)

test.runIf(isRoot)('a user who cannot write into the package gets the links in a copy', async () => {
  const scratch = scratchFolder()
  const home = join(scratch, 'home')
  mkdirSync(home)
  chmodSync(home, 0o777)
  const dataFolder = join(home, 'data')
  const account = { uid: 65_534, gid: 65_534 }
  const holder = new Holder({ dataFolder, binaries: copyPackageWithoutLinks(scratch), account })
  await holder.next('started')
  expect(readdirSync(dataFolder)).toContainEqual(expect.stringMatching(/^postgres-18\./))
  await holder.stop()
})

test('a folder without binaries is refused with the reason', async () => {
  const scratch = scratchFolder()
  await expect(startLocalPostgres({ dataFolder: join(scratch, 'data'), binaries: scratch })).rejects.toMatchObject({
    code: 'LOCAL_POSTGRES_NO_BINARIES',
    message: expect.stringContaining(`${scratch}/initdb ENOENT`),
  })
})

test('a platform without a package is refused with the package that is missing', async () => {
  vi.spyOn(process, 'arch', 'get').mockReturnValue('mips')
  await expect(startLocalPostgres({ dataFolder: join(scratchFolder(), 'data') })).rejects.toMatchObject({
    code: 'LOCAL_POSTGRES_NO_BINARIES',
    message: expect.stringContaining('-mips is not installed'),
  })
  vi.restoreAllMocks()
})
