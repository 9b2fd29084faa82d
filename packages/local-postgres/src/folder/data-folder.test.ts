import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { Holder, holdServer } from '../scene/hold-server.ts'
import { copyPackageWithoutLinks, scratchFolder } from '../scene/scratch-folder.ts'
import { withClient } from '../server/connection.ts'
import { startLocalPostgres } from '../start-local-postgres.ts'

vi.setConfig({ testTimeout: 120_000 })

const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }

test.runIf(isRoot)('[O-02] root gets a server that runs under an account without rights', async () => {
  const server = await startLocalPostgres({ dataFolder: join(scratchFolder(), 'data') })
  expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0)
  expect(statSync(join(server.dataFolder, 'cluster')).mode & 0o777).toBe(0o700)
  await server.stop()
})

test.runIf(isRoot)('[O-02] an ordinary user gets a server that runs as that user', async () => {
  const scratch = openToAll(scratchFolder())
  const dataFolder = join(scratch, 'data')
  const { holder, server } = await holdServer({ dataFolder, account: nobody, binaries: copyPackageWithoutLinks(scratch) })
  expect(statSync(`/proc/${server.pid}`).uid).toBe(nobody.uid)
  await holder.stop()
})

test.runIf(isRoot)('[O-02] root and the user who owns the data can share the server', async () => {
  const scratch = openToAll(scratchFolder())
  const shared = { dataFolder: join(scratch, 'data'), binaries: copyPackageWithoutLinks(scratch) }
  const user = await holdServer({ ...shared, account: nobody })
  const root = await startLocalPostgres(shared)
  expect(root.role).toBe('attached')
  await user.holder.stop()

  const again = await holdServer({ ...shared, account: nobody })
  await root.stop()
  await again.holder.stop()

  const alone = await startLocalPostgres(shared)
  expect(statSync(`/proc/${alone.pid}`).uid).toBe(nobody.uid)
  await alone.stop()

  const last = await holdServer({ ...shared, account: nobody })
  expect(last.server.role).toBe('started')
  await last.holder.stop()
})

test.runIf(isRoot)('[O-02] below a folder of mode 700, root’s data goes to a system location and is found again', async () => {
  const scratch = scratchFolder()
  const closed = join(scratch, 'home')
  const places = { dataFolder: join(closed, 'project', 'data'), systemFolder: join(scratch, 'system') }
  mkdirSync(closed, { mode: 0o700 })
  const first = await startLocalPostgres(places)
  expect(first.dataFolder).toMatch(new RegExp(`^${places.systemFolder}/\\w+$`))
  expect(readFileSync(join(places.dataFolder, 'moved-to'), 'utf8').trim()).toBe(first.dataFolder)
  await withClient(first.url, (client) => client.query('create table kept ()'))
  await first.stop()

  chmodSync(closed, 0o755)
  const second = await startLocalPostgres(places)
  await expect(withClient(second.url, (client) => client.query('table kept'))).resolves.toBeDefined()
  await second.stop()
})

test.runIf(isRoot)('data that its owner can no longer reach is refused, not replaced by an empty cluster', async () => {
  const scratch = scratchFolder()
  const home = join(scratch, 'home')
  const server = await startLocalPostgres({ dataFolder: join(home, 'data') })
  await server.stop()
  chmodSync(home, 0o700)
  await expect(startLocalPostgres({ dataFolder: join(home, 'data') })).rejects.toMatchObject({ code: 'LOCAL_POSTGRES_FOLDER' })
})

test.runIf(isRoot)('a folder that the user cannot write to is refused', async () => {
  const scratch = scratchFolder()
  const holder = new Holder({ dataFolder: join(scratch, 'data'), account: nobody })
  await expect(holder.next('failed')).resolves.toMatchObject({
    code: 'LOCAL_POSTGRES_FOLDER',
    message: expect.stringContaining('permission denied'),
  })
})

test.runIf(isRoot)('data that belongs to another account is refused', async () => {
  const dataFolder = openToAll(scratchFolder())
  const root = await startLocalPostgres({ dataFolder })
  const stranger = new Holder({ dataFolder, account: nobody, binaries: copyPackageWithoutLinks(dataFolder) })
  await expect(stranger.next('failed')).resolves.toMatchObject({ code: 'LOCAL_POSTGRES_FOLDER' })
  await root.stop()
})

test('a file in the place of the data folder is refused', async () => {
  const file = join(scratchFolder(), 'data')
  writeFileSync(file, '')
  await expect(startLocalPostgres({ dataFolder: file })).rejects.toMatchObject({ code: 'LOCAL_POSTGRES_FOLDER' })
})

function openToAll(folder: string): string {
  chmodSync(folder, 0o777)
  return folder
}
