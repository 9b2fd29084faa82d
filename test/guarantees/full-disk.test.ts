/**
 * The disk of the server is really full: a small file system of its own, and a file that takes what is left. While tables cannot grow, what has run is kept in memory; when the server
 * cannot even write its log it falls, and once there is room everybody goes on by themselves. Mounting takes root on Linux; what else can be full is in stuck-server.test.ts.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, defineKind, type Engine, migrate, silentLog } from '@sluice/engine'
import { startTestServer, type TestDatabase, type TestServer } from '@sluice/local-postgres/testing'
import type pg from 'pg'
import { afterAll, test as base, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { type Look, lookAt } from '../support/look.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

const disk = mkdtempSync(join(tmpdir(), 'sluice-small-disk-'))
const mounted = process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', disk]).status === 0
afterAll(() => {
  if (mounted) spawnSync('umount', [disk])
  rmdirSync(disk)
})

const filler = join(disk, 'filler')

/** Takes all that is left, to the last page. */
function fillDisk(): void {
  const file = openSync(filler, 'w')
  onTestFinished(makeRoom)
  try {
    for (const bytes of [2 ** 20, 4096]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes))
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      }
    }
  } finally {
    closeSync(file)
  }
}
const makeRoom = () => rmSync(filler, { force: true })

describe.skipIf(!mounted)('on a small disk', () => {
  let server: TestServer
  beforeAll(async () => {
    chmodSync(disk, 0o755) // the server is another user
    const { TMPDIR } = process.env
    process.env['TMPDIR'] = disk
    try {
      const settings = { min_wal_size: '32MB', max_wal_size: '48MB' }
      server = await startTestServer({ settings, prepare: async (url) => void (await migrate(url)) })
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = TMPDIR
    }
  })
  afterAll(() => server.stop())

  /** A job with as much as a job may have: there is no room for it in any page. */
  const load = defineKind('load', { payload: z.object({ bytes: z.string() }), run: () => {} })
  const tooMuch = () => load({ bytes: randomBytes(90_000).toString('base64') })

  interface Scene {
    database: TestDatabase
    look: Look
    /** Runs jobs of every shape up to their ends, which wait for `open`. */
    scene: { engine: Engine; ids: number[]; open: () => void; triedAgain: () => number }
  }

  const test = base.extend<Scene>({
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
    database: async ({}, use) => {
      const database = await server.createDatabase()
      await use(database)
      await database.drop()
    },
    look: async ({ database }, use) => {
      await use(lookAt(database.url))
    },
    scene: async ({ database, look }, use) => {
      await look((client) => client.query(effectTable))
      let open = () => {}
      const gate = new Promise<void>((resolve) => {
        open = resolve
      })
      let [ran, again] = [0, 0]
      const engine = createEngine({
        database: database.url,
        kinds: [...stepKinds, load],
        lease: '60s',
        grace: '2s',
        log: { ...silentLog, warn: (event: string) => void (event === 'settle is tried again' && again++) },
        services: { enter: () => (++ran, gate) },
      })
      await engine.start()
      const kinds = [stepPlain, stepWrite, stepNext, stepBoth]
      const jobs = await engine.enqueueMany(Array.from({ length: 8 }, (_, n) => kinds[n % kinds.length]!({ n })))
      await eventually(() => ran === jobs.length)
      await use({ engine, ids: jobs.map(({ id }) => id), open, triedAgain: () => again })
      await engine.stop()
    },
  })

  test('[E-27] [Q-02] tables that cannot grow burn no attempt: what has run is stored when there is room', async ({
    scene,
    look,
  }) => {
    fillDisk()
    await expect(scene.engine.enqueue(tooMuch())).rejects.toMatchObject({ code: '53100' })
    scene.open()
    await eventually(() => scene.triedAgain() > 12, 60_000)
    makeRoom()
    await look((client) => drained(client))
    for (const id of scene.ids) expect(await scene.engine.attempts(id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
    expect(await look((client) => tally(client, scene.ids))).toEqual(nothingWrong)
  })

  test('[E-27] [Q-02] a server that falls because its log has no room loses nothing, and everybody goes on when it is back', async ({
    scene,
    look,
  }) => {
    fillDisk()
    scene.open()
    const falls = async () => {
      await look((client) =>
        client.query(`select pg_switch_wal(), pg_logical_emit_message(false, 'fill', repeat('x', 1000000), false)`),
      )
      return false
    }
    await eventually(() => falls().catch((error: pg.DatabaseError) => !['53100', '57P03'].includes(error.code ?? '')), 60_000)
    await eventually(() => !scene.engine.status().ready)
    makeRoom()
    await server.restart()
    await eventually(() => scene.engine.status().ready, 60_000)
    const { id } = await scene.engine.enqueue(stepPlain({ n: 100 }))
    await look((client) => drained(client))
    expect(await look((client) => tally(client, [...scene.ids, id]))).toEqual(nothingWrong)
  })
})
