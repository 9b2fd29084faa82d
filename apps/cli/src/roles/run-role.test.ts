import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { eventually, test } from '../../../../test/support/sluice.ts'

const engine = new URL('../../../../packages/engine/dist/index.js', import.meta.url).href
const alone = { env: { DATABASE_URL: undefined } }
const json = async (url: string, init?: RequestInit): Promise<any> => (await fetch(url, init)).json()
const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

describe('[O-01] sluice up', () => {
  test('[O-01] in an empty folder it is ready, runs a job that is enqueued over HTTP, and leaves nothing running', async ({
    folder,
    start,
    sluice,
  }) => {
    const up = start(['up', '--port', '0', '--json'], alone)
    const { address, local, firstKey } = await up.ready()
    expect([local?.folder, firstKey]).toEqual([join(folder, '.sluice', 'postgres'), null])
    expect(await json(`${address}/livez`)).toEqual({ alive: true })
    expect(await json(`${address}/readyz`)).toEqual({ ready: true, problems: [] })
    const { id } = await json(`${address}/api/jobs`, post({ kind: 'sluice.ping', payload: { message: 'hello' } }))
    await eventually(async () => (await json(`${address}/api/jobs/${id}`)).state === 'succeeded')
    // A second command finds the same database by the folder alone.
    expect(await sluice(['jobs', 'show', String(id), '--json'], alone)).toMatchObject({
      code: 0,
      out: expect.stringContaining('succeeded'),
    })
    expect(statSync(join(folder, '.sluice', 'master.key')).mode & 0o777).toBe(0o600)
    up.signal('SIGTERM')
    expect(await up.ended).toMatchObject({ code: 0, err: expect.stringContaining('Stopping') })
    expect(existsSync(join(folder, '.sluice', 'postgres', 'cluster', 'postmaster.pid'))).toBe(false)
  })

  test('[E-23] told twice, it hands back its job, which is not to blame, and stops the PostgreSQL that nobody else uses', async ({
    folder,
    start,
  }) => {
    const up = start(['up', '--port', '0', '--json'], alone)
    const { address } = await up.ready()
    const other = start(['up', '--port', '0', '--json'], alone)
    const { address: otherAddress } = await other.ready()
    const isRunning = (): boolean => existsSync(join(folder, '.sluice', 'postgres', 'cluster', 'postmaster.pid'))
    const twice = async (one: typeof up): Promise<void> => {
      one.signal('SIGTERM')
      await eventually(() => one.err.includes('second signal leaves at once'))
      one.signal('SIGINT')
      const { code, err } = await one.ended
      expect([code, err]).toEqual([130, expect.not.stringContaining('{"error"')])
    }
    const busy = async (at: string): Promise<boolean> => {
      await fetch(`${at}/api/jobs`, post({ kind: 'sluice.ping', payload: { takeMs: 600_000 } }))
      const { items } = await json(`${at}/api/workers`)
      return items.every(({ running }: { running: Record<string, number> }) => Object.values(running).some((jobs) => jobs > 0))
    }
    const running = async (): Promise<{ worker: number; crashes: number; attempt: number }[]> =>
      (await json(`${otherAddress}/api/jobs?state=running`)).items
    await eventually(() => busy(address))
    expect(new Set((await running()).map(({ worker }) => worker)).size).toBe(2)
    await twice(up)
    expect(isRunning()).toBe(true)
    await eventually(async () => new Set((await running()).map(({ worker }) => worker)).size === 1)
    expect((await running()).filter(({ crashes, attempt }) => crashes > 0 || attempt !== 1)).toEqual([])
    expect(await json(`${otherAddress}/readyz`)).toMatchObject({ ready: true })
    await twice(other)
    expect(isRunning()).toBe(false)
  })

  test('[E-23] a migration that is told to stop leaves no PostgreSQL behind either', async ({ folder, start }) => {
    const isRunning = (): boolean => existsSync(join(folder, '.sluice', 'postgres', 'cluster', 'postmaster.pid'))
    const migration = start(['migrate'], alone)
    await eventually(isRunning)
    migration.signal('SIGTERM')
    await migration.ended
    expect(isRunning()).toBe(false)
  })

  test('[O-01] it greets people with where it listens and what to try', async ({ start, database }) => {
    const up = start(['up', '--port', '0'])
    const text = await eventually(() => /docs .*\n/.test(up.out) && up.out)
    expect(text).toMatch(/^Sluice is up on http:\/\/127\.0\.0\.1:\d+, process \d+$/m)
    expect(text).toMatch(/try {3}curl http:\S+\/api\/jobs -H 'content-type: application\/json' -d '\{"kind":"sluice.ping"/)
    expect(text).toContain(new URL(database.url).pathname)
    up.signal('SIGINT')
    expect((await up.ended).code).toBe(0)
  })

  test('[O-09] where keys are required it makes the first one, once', async ({ start }) => {
    const args = ['up', '--port', '0', '--json', '--require-keys']
    const first = start(args)
    const { address, firstKey } = await first.ready()
    expect(firstKey).toMatch(/^sluice_/)
    expect((await fetch(`${address}/metrics`)).status).toBe(401)
    expect((await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${firstKey}` } })).status).toBe(200)
    expect(first.err).not.toContain(firstKey)
    first.signal('SIGTERM')
    await first.ended
    const { firstKey: second } = await start(args).ready()
    expect(second).toBeNull()
  })

  test('[O-01] a role without an API names the port that it has', async ({ sluice }) => {
    for (const role of ['worker', 'scheduler'])
      expect(await sluice([role, '--port', '0'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('Did you mean --health-port?'),
      })
  })

  test('[O-01] a scheduler says whether it leads or stands by', async ({ start }) => {
    const first = start(['scheduler'])
    await eventually(() => first.out.includes('Sluice leads, process'))
    const second = start(['scheduler'])
    await eventually(() => second.out.includes('Sluice stands by to lead, process'))
  })

  test('[O-01] a port that is taken is named, with what to do', async ({ sluice }) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const said = await sluice(['up', '--port', String(port)])
    taken.close()
    expect(said).toMatchObject({ code: 5, out: '' })
    expect(said.err).toContain(`Somebody else listens on 127.0.0.1:${port}.`)
    expect(said.err).toContain('--port')
  })

  test('[O-01] an address of another machine is refused', async ({ sluice }) => {
    expect(await sluice(['server', '--host', '192.0.2.1', '--port', '0'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('This machine cannot listen on 192.0.2.1'),
    })
  })

  test('[O-01] a database that does not answer is unavailable, in a sentence', async ({ sluice }) => {
    const said = await sluice(['up'], { env: { DATABASE_URL: 'postgresql://127.0.0.1:1/none' } })
    expect(said).toMatchObject({ code: 5, out: '', err: expect.stringContaining('PostgreSQL does not answer') })
    expect(said.err).not.toMatch(/\n\s+at /)
  })
})

describe('[O-01] modules', () => {
  test('[O-01] kinds of a module run, its schedules are stored', async ({ folder, start, sluice }) => {
    writeFileSync(
      join(folder, 'jobs.mjs'),
      `import { defineKind, defineSchedule } from '${engine}'
       const hello = defineKind('hello', { run() {} })
       export const kinds = [hello]
       export const schedules = [defineSchedule('daily', { cron: '0 0 * * *', job: hello({}) })]`,
    )
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify({ load: ['./jobs.mjs'], port: 0 }))
    await start(['up', '--json']).ready()
    const { code, out } = await sluice(['jobs', 'enqueue', 'hello', '--json'])
    expect(code).toBe(0)
    const { id } = JSON.parse(out)
    await eventually(async () => (await sluice(['jobs', 'show', String(id), '--json'])).out.includes('"succeeded"'))
    const { items } = JSON.parse((await sluice(['schedules', 'list', '--json'])).out)
    expect(items).toMatchObject([
      { name: 'collector.daily' },
      { name: 'collector.prune' },
      { name: 'daily', kind: 'hello' },
      { name: 'sluice.prune-audit' },
    ])
  })

  test('[C-10] the daily collection of everybody is stored with the first process, and gone with one that is told so', async ({
    start,
    sluice,
  }) => {
    const names = async (): Promise<string[]> =>
      JSON.parse((await sluice(['schedules', 'list', '--json'])).out).items.map(({ name }: { name: string }) => name)
    const first = start(['up', '--port', '0', '--json'])
    await first.ready()
    expect(await names()).toEqual(['collector.daily', 'collector.prune', 'sluice.prune-audit'])
    first.signal('SIGTERM')
    await first.ended
    await start(['up', '--port', '0', '--json', '--collect-daily', 'off']).ready()
    expect(await names()).toEqual(['collector.prune', 'sluice.prune-audit'])
  })

  const broken: [sentence: string, name: string, source: string, code: number, told: RegExp][] = [
    ['with a syntax error', 'jobs.mjs', 'export const kinds = [', 1, /jobs\.mjs could not be loaded: SyntaxError/],
    ['in TypeScript', 'jobs.ts', 'export const kinds: unknown[] = []', 1, /compile it and name the \.js file/],
    ['that exports nothing of ours', 'jobs.mjs', 'export const kindz = []', 2, /did you mean kinds/],
  ]
  test.for(broken)(
    '[O-01] a module %s keeps a role from starting, with its name and the reason',
    async ([, name, source, code, told], { folder, sluice }) => {
      writeFileSync(join(folder, name), source)
      const said = await sluice(['worker', '--load', `./${name}`])
      expect(said).toMatchObject({ code, out: '', err: expect.stringMatching(told) })
      expect(said.err).not.toMatch(/\n\s+at /)
    },
  )
})

describe('[O-01] roles', () => {
  test('[O-01] a worker answers probes and scrapers on its health port, and nothing else', async ({ start }) => {
    const { address } = await start(['worker', '--health-port', '0', '--json']).ready()
    expect(await json(`${address}/livez`)).toEqual({ alive: true })
    expect(await json(`${address}/readyz`)).toEqual({ ready: true, problems: [] })
    const metrics = await fetch(`${address}/metrics`)
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining('sluice_build_info')])
    expect((await fetch(`${address}/api/jobs`)).status).toBe(404)
    expect((await fetch(`${address}/livez`, { method: 'POST' })).status).toBe(405)
  })

  test('[O-09] metrics of a worker ask for a key where the API does; probes do not', async ({ start, sluice }) => {
    const { address } = await start(['worker', '--health-port', '0', '--require-keys', '--json']).ready()
    expect((await fetch(`${address}/metrics`)).status).toBe(401)
    expect(await json(`${address}/readyz`)).toEqual({ ready: true })
    const { out: key } = await sluice(['keys', 'create', 'scraper'])
    expect((await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${key.trim()}` } })).status).toBe(200)
  })

  test('[E-23] told to stop, a worker lets its job end; told twice, it hands it back and leaves at once', async ({
    folder,
    start,
    sluice,
    client,
  }) => {
    writeFileSync(
      join(folder, 'jobs.mjs'),
      `import { existsSync } from 'node:fs'
       import { setTimeout as wait } from 'node:timers/promises'
       import { defineKind } from '${engine}'
       const held = defineKind('held', { async run() { while (!existsSync('may-end')) await wait(20) } })
       export const kinds = [held]`,
    )
    const first = start(['worker', '--json', '--load', './jobs.mjs'])
    await first.ready()
    await sluice(['jobs', 'enqueue', 'held'])
    const running = async (): Promise<boolean> =>
      (await client.query(`select from sluice.job where worker is not null`)).rows.length > 0
    await eventually(running)
    first.signal('SIGTERM')
    await eventually(() => first.err.includes('One job may end within 30s'))
    writeFileSync(join(folder, 'may-end'), '')
    expect(await first.ended).toMatchObject({ code: 0 })
    expect((await client.query(`select state from sluice.job_ledger`)).rows).toEqual([{ state: 'succeeded' }])

    const second = start(['worker', '--json'])
    await second.ready()
    await sluice(['jobs', 'enqueue', 'sluice.ping', '-p', '{"takeMs":600000}'])
    await eventually(running)
    second.signal('SIGINT')
    await eventually(() => second.err.includes('Stopping'))
    second.signal('SIGINT')
    expect((await second.ended).code).toBe(130)
    expect((await client.query('select crashes, attempt from sluice.job where worker is null')).rows).toEqual([
      { crashes: 0, attempt: 0 },
    ])
    expect((await client.query('select from sluice.worker')).rows).toEqual([])
  })

  test('[O-10] what a role says never holds the password of its database', async ({ start, database, folder }) => {
    const address = new URL(database.url)
    address.searchParams.set('sslpassword', 'hunter2')
    const up = start(['up', '--port', '0', '--log-level', 'trace'], { env: { DATABASE_URL: address.href } })
    await eventually(() => up.out.includes('docs'))
    expect(up.out + up.err).not.toContain('hunter2')
    expect(existsSync(join(folder, '.sluice')) && readFileSync(join(folder, '.sluice', 'master.key'), 'utf8')).toBe(false)
  })
})
