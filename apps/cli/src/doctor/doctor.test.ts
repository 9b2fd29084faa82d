import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Health, SeenKind, SeenPool, SeenWorker } from '@sluice/engine'
import type { ApiKey } from '@sluice/server'
import { ping } from '@sluice/server'
import { describe, expect } from 'vitest'
import { eventually, test } from '../../../../test/support/sluice.ts'
import { type Finding, judgeHealth, judgeKeys, judgeMasterKey, judgeSpace, sizeOf } from './findings.ts'
import { judgeKinds, unknownKinds } from './judge-kinds.ts'
import { judgeModules } from './judge-modules.ts'
import { judgePools } from './judge-pools.ts'

const now = new Date(0)
const well: Health = {
  server: { version: '18.4', number: 180004, startedAt: now, connections: 10, connectionsMax: 100, autovacuum: true },
  schema: [],
  clockAheadMs: 3,
  jobTable: { live: 10, dead: 10, bytes: 8_192, indexBytes: 0, vacuumedAt: null },
  oldestSnapshot: undefined,
  openTransactions: [],
  lostWorkers: [],
  orphans: { count: 0, more: false },
  leader: { term: 3, worker: 1, name: 'up', until: now },
  listeners: 1,
  ledgerDaysAhead: 8,
}
const worker = {
  id: 1,
  name: 'up',
  state: 'alive',
  leads: true,
  pools: {},
  kinds: [],
  running: {},
  startedAt: now,
  beatAt: now,
  leaseUntil: now,
} as SeenWorker
const held = (untilMs: number): Health['leader'] => ({ term: 3, worker: 1, name: 'up', until: new Date(untilMs) })
const snapshot = { pid: 42, application: 'report', state: 'idle in transaction', ageMs: 120_000 }
const key = {
  id: 'k',
  name: 'deploy',
  role: 'admin',
  state: 'active',
  createdAt: now,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
} as ApiKey
const stateOf = (findings: readonly Finding[], check: string): Finding | undefined => findings.find((one) => one.check === check)

describe('[O-06] what the facts mean', () => {
  const cases: [check: string, state: Finding['state'], changed: Partial<Health>, workers: SeenWorker[], said: RegExp][] = [
    ['database', 'ok', {}, [worker], /18\.4/],
    ['database', 'fail', { server: { ...well.server, autovacuum: false } }, [worker], /autovacuum = on/],
    ['database', 'warn', { server: { ...well.server, connections: 95 } }, [worker], /max_connections/],
    ['clock', 'ok', { clockAheadMs: -999 }, [worker], /as that/],
    ['clock', 'warn', { clockAheadMs: 5_000 }, [worker], /5s behind/],
    ['clock', 'fail', { clockAheadMs: -60_000 }, [worker], /1m ahead/],
    ['bloat', 'warn', { jobTable: { ...well.jobTable, dead: 1_000_000 } }, [worker], /vacuum analyze sluice\.job/],
    ['bloat', 'ok', { jobTable: { ...well.jobTable, live: 900_000, dead: 1_000_000 } }, [worker], /dead rows/],
    ['snapshots', 'warn', { oldestSnapshot: snapshot }, [worker], /pg_terminate_backend\(42\)/],
    ['snapshots', 'fail', { oldestSnapshot: { ...snapshot, ageMs: 7_200_000 } }, [worker], /2h/],
    ['transactions', 'ok', { openTransactions: [{ ...snapshot, ageMs: 2_000, over: ['lane'] }] }, [worker], /none is kept open/],
    [
      'transactions',
      'warn',
      { openTransactions: [{ ...snapshot, over: ['job', 'lane'] }] },
      [worker],
      /over job, lane.*backend\(42\)/s,
    ],
    ['ledger', 'warn', { ledgerDaysAhead: 0 }, [worker], /scheduler/],
    ['leases', 'ok', { lostWorkers: [{ id: 2, name: 'b', overMs: 1_000 }] }, [worker], /none/],
    ['leases', 'fail', { lostWorkers: [{ id: 2, name: 'b', overMs: 100_000 }] }, [worker], /over for long: b/],
    ['leases', 'fail', { orphans: { count: 4, more: true } }, [worker], /4\+ jobs run in no process/],
    ['leader', 'ok', {}, [worker], /up, term 3/],
    ['leader', 'warn', { leader: { term: 3, worker: undefined, name: undefined, until: undefined } }, [], /no process runs/],
    ['leader', 'fail', { leader: { term: 3, worker: undefined, name: undefined, until: undefined } }, [worker], /nobody leads/],
    [
      'leader',
      'fail',
      { leader: held(600_000) },
      [],
      /held until 1970-01-01T00:10:00.000Z by a process that is gone.*update sluice\.leader/,
    ],
    ['leader', 'fail', { leader: held(600_000) }, [{ ...worker, state: 'lost' }], /by a process that is gone/],
    ['leader', 'warn', { leader: held(5_000) }, [{ ...worker, state: 'lost' }], /takes over then/],
    ['leader', 'ok', { leader: held(600_000) }, [worker], /up, term 3/],
    ['leader', 'fail', { leader: held(600_000), clockAheadMs: 530_000 }, [], /gone/],
    ['leader', 'warn', { leader: held(600_000), clockAheadMs: 590_000 }, [], /takes over then/],
    ['wake-ups', 'warn', { listeners: 0 }, [worker], /^0 of 1 processes listen; the others look once a second A pooler/],
    [
      'wake-ups',
      'warn',
      { listeners: 0, clockAheadMs: 5_000 },
      [worker],
      /^0 of 1 processes listen; up was last heard of 5s ago A process that was killed counts until its lease is over.*left\.$/,
    ],
    [
      'wake-ups',
      'warn',
      { listeners: 1, clockAheadMs: 5_000 },
      [worker, { ...worker, beatAt: new Date(4_500) }],
      /^1 of 2 processes listen; up was last heard of 5s ago A process that was killed.* If that changes nothing: A pooler/,
    ],
    ['wake-ups', 'ok', { clockAheadMs: 5_000 }, [worker], /the process listens/],
  ]
  test.for(cases)('[O-06] %s is %s', ([check, state, changed, workers, said]) => {
    const finding = stateOf(judgeHealth({ ...well, ...changed }, workers, 0), check)
    expect(finding).toMatchObject({ state })
    expect(`${finding?.text} ${finding?.fix ?? ''}`).toMatch(said)
    expect(finding?.fix === undefined).toBe(state === 'ok')
  })

  test('[O-09] keys: required and none is a failure, expired ones are a warning', () => {
    expect(judgeKeys(false, [])).toMatchObject({ state: 'ok' })
    expect(judgeKeys(true, [])).toMatchObject({ state: 'fail', fix: expect.stringContaining('keys create') })
    expect(judgeKeys(true, [{ ...key, role: 'read' }])).toMatchObject({ state: 'fail' })
    expect(judgeKeys(true, [key, { ...key, state: 'expired' }])).toMatchObject({ state: 'warn' })
    expect(judgeKeys(true, [key])).toMatchObject({ state: 'ok' })
  })

  test('[O-09] keys are told as this command is configured: a server may be started otherwise', () => {
    expect(judgeKeys(false, [key]).text).toBe('not required on this machine, as configured here; 1 active')
    expect(judgeKeys(true, [key]).text).toBe('required, as configured here; 1 active')
  })

  const here = { modules: 1, kinds: ['page', 'mail'], runs: 1 }
  const runs = (...kinds: string[]): SeenWorker[] => [{ ...worker, kinds }]
  const compared: [
    state: Finding['state'],
    here: Parameters<typeof judgeModules>[0],
    live: SeenWorker[] | undefined,
    text: string,
  ][] = [
    ['ok', here, undefined, '2 kinds and 1 run as configured here'],
    ['ok', here, [], '2 kinds and 1 run as configured here; no process runs to compare with'],
    ['ok', here, runs('mail', 'page'), '2 kinds and 1 run as configured here; live processes know them'],
    ['warn', here, runs('page', 'sluice.ping'), '2 kinds and 1 run as configured here; no live process knows mail'],
    [
      'ok',
      { modules: 0, kinds: [], runs: 0 },
      runs('c', 'b', 'a', 'f', 'e', 'd'),
      'none as configured here; live processes also know a, b, c, d, e and 1 more',
    ],
    ['ok', { modules: 0, kinds: [], runs: 0 }, runs('sluice.ping'), 'none as configured here'],
    ['ok', here, [{ ...worker, state: 'lost' }], '2 kinds and 1 run as configured here; no process runs to compare with'],
  ]
  test.for(compared)('[O-06] modules are %s beside live processes', ([state, configured, live, text]) => {
    const finding = judgeModules(configured, live)
    expect(finding).toMatchObject({ state, text })
    expect(finding.fix === undefined).toBe(state === 'ok')
  })

  const pool = (name: string, served: number, count: number, more = false): SeenPool => ({
    name,
    workers: served,
    core: served,
    max: served,
    running: 0,
    ready: { count, more },
    next: undefined,
    paused: null,
  })
  test('[O-06] jobs in a pool that no process serves are a warning that names the pool', () => {
    expect(judgePools([pool('light', 1, 5), pool('heavy', 0, 0)])).toMatchObject({ state: 'ok' })
    const found = judgePools([pool('light', 1, 5), pool('ligth', 0, 3), pool('mail', 0, 1000, true)])
    expect(found).toMatchObject({ state: 'warn', fix: expect.stringContaining('sluice pools list') })
    expect(found.text).toContain('ligth (3), mail (1000+)')
  })

  const kind = (name: string, known: number, waits = 'light', paused = false): SeenKind => ({
    name,
    pool: waits,
    priority: 0,
    maxAttempts: 1,
    dedupe: null,
    lane: null,
    cost: 1,
    registeredAt: new Date(0),
    on: [],
    workers: known,
    paused: paused ? { reason: null, since: new Date(0) } : null,
  })
  test('[O-06] jobs of a kind that no process knows are a warning that names the kind, unless their pool is to blame', () => {
    const kinds = [kind('known', 1), kind('gone', 0), kind('elsewhere', 0, 'heavy'), kind('held', 0, 'light', true)]
    expect(unknownKinds(kinds, new Set(['light']))).toEqual(['gone'])
    expect(judgeKinds([])).toMatchObject({ check: 'kinds', state: 'ok' })
    const found = judgeKinds([{ name: 'gone', job: 7 }])
    expect(found).toMatchObject({ state: 'warn', fix: expect.stringContaining('sluice kinds list') })
    expect(found.text).toContain('gone (job 7)')
  })

  test('[O-10] a master key that others can read is a failure', () => {
    expect(judgeMasterKey({ fromVariable: false, mode: 0o100644, file: 'k' })).toMatchObject({
      state: 'fail',
      fix: 'chmod 600 k',
    })
    expect(judgeMasterKey({ fromVariable: false, mode: 0o100600, file: 'k' })).toMatchObject({ state: 'ok' })
    expect(judgeMasterKey({ fromVariable: true, mode: undefined, file: 'k' })).toMatchObject({ state: 'ok' })
  })

  test('[O-06] little space is a warning, none a failure; sizes have a unit', () => {
    expect([2e9, 5e8, 1e6].map((bytes) => judgeSpace('here', bytes).state)).toEqual(['ok', 'warn', 'fail'])
    expect([0, 999, 8_192, 1.5e6, 78e9, 3e15].map(sizeOf)).toEqual([
      '0 bytes',
      '999 bytes',
      '8.2 kB',
      '1.5 MB',
      '78 GB',
      '3000 TB',
    ])
  })
})

describe('[O-06] sluice doctor', () => {
  const checksOf = (out: string): Record<string, Finding> =>
    Object.fromEntries((JSON.parse(out).checks as Finding[]).map((one) => [one.check, one]))

  test('[O-06] on a system that is well every check is ok', async ({ sluice, engines }) => {
    await sluice(['migrate'])
    await engines({ kinds: [ping] }).start()
    const { code, out } = await sluice(['doctor', '--json'])
    expect(Object.values(checksOf(out)).filter(({ state }) => state !== 'ok')).toEqual([])
    expect(code).toBe(0)
    expect(Object.keys(checksOf(out))).toEqual(
      expect.arrayContaining([
        'configuration',
        'modules',
        'database',
        'schema',
        'clock',
        'bloat',
        'snapshots',
        'leases',
        'leader',
        'wake-ups',
        'Redis',
        'keys',
        'master key',
      ]),
    )
  })

  test('[O-06] a schema that lacks something, a loose master key and a broken module fail with their fix', async ({
    folder,
    sluice,
    client,
  }) => {
    await client.query('drop schema sluice cascade')
    mkdirSync(join(folder, '.sluice'))
    writeFileSync(join(folder, '.sluice', 'master.key'), 'x')
    chmodSync(join(folder, '.sluice', 'master.key'), 0o644)
    const { code, out } = await sluice(['doctor', '--json'], { env: { SLUICE_LOAD: './nowhere.js' } })
    expect(code).toBe(1)
    expect(checksOf(out)).toMatchObject({
      schema: { state: 'fail', fix: 'sluice migrate' },
      'master key': { state: 'fail', fix: expect.stringContaining('chmod 600') },
      modules: { state: 'fail', text: expect.stringContaining('nowhere.js does not exist') },
    })
  })

  test('[O-06] leadership of a process that is gone is a failure, and its fix mends it', async ({ sluice, engines, client }) => {
    await sluice(['migrate'])
    const engine = engines({ kinds: [ping], name: 'up here:1' })
    await client.query(`update sluice.leader set term = 1, worker = 999, until = sluice.now() + interval '1 day'`)
    await engine.start()
    const { code, out } = await sluice(['doctor', '--json'])
    expect(code).toBe(1)
    const { leader } = checksOf(out)
    expect(leader).toMatchObject({
      state: 'fail',
      text: expect.stringMatching(/^leadership is held until .* by a process that is gone$/),
    })
    expect((await sluice(['status'])).out).toContain('by a process that is gone')
    await client.query(/update .*;/.exec(leader?.fix ?? '')?.[0] ?? '')
    await eventually(async () => (await engine.inspect.leader()).name === 'up here:1')
    expect(checksOf((await sluice(['doctor', '--json'])).out)['leader']).toMatchObject({ state: 'ok' })
  })

  test('[O-06] a database that does not answer and a wrong configuration are findings, not crashes', async ({ sluice }) => {
    const away = await sluice(['doctor', '--json'], { env: { DATABASE_URL: 'postgresql://127.0.0.1:1/none' } })
    expect([away.code, checksOf(away.out)['database']]).toMatchObject([
      1,
      { state: 'fail', fix: expect.stringContaining('DATABASE_URL') },
    ])
    const wrong = await sluice(['doctor', '--json'], { env: { SLUICE_PORT: 'x' } })
    expect([wrong.code, checksOf(wrong.out)['configuration']]).toMatchObject([
      1,
      { state: 'fail', text: expect.stringContaining('SLUICE_PORT=x') },
    ])
  })

  test('[O-06] an empty folder has no database, and doctor makes none', async ({ sluice }) => {
    const { code, out } = await sluice(['doctor', '--json'], { env: { DATABASE_URL: undefined } })
    expect([code, checksOf(out)['database']]).toMatchObject([
      1,
      { state: 'fail', text: expect.stringContaining('There is no database here') },
    ])
  })
})
