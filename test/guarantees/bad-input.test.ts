/**
 * Bad input is refused at the door: each mistake gets an error with a code and a message that names what is wrong, and nothing is stored.
 * Members of a group of enqueues that travel together answer for themselves.
 */
import {
  createEngine,
  defineEvent,
  defineKind,
  defineRun,
  delays,
  type Engine,
  type EngineOptions,
  type ErrorCode,
  exponential,
  SluiceError,
  silentLog,
} from '@sluice/engine'
import { createTestKit } from '@sluice/engine/testing'
import { createTestDatabase, type TestDatabase } from '@sluice/local-postgres/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject } from 'vitest'
import { z } from 'zod'
import { test } from '../support/database.ts'

const note = defineKind('note', { payload: z.looseObject({ text: z.string().optional() }), run: () => {} })
const strict = defineKind('strict', { payload: z.strictObject({ to: z.email() }), run: () => {} })
const limitBytes = 262_144

const circular: Record<string, unknown> = {}
circular['self'] = circular

const deep = JSON.parse(`${'['.repeat(6_000)}${']'.repeat(6_000)}`) as unknown

/** What `act` threw, as long as it is an error of ours. */
async function refusal(act: () => unknown): Promise<SluiceError> {
  try {
    await act()
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
  throw new Error('it was accepted')
}

const requests: [mistake: string, request: unknown, code: ErrorCode, names: RegExp][] = [
  ['an unknown kind', { kind: 'nobody.knows', payload: {} }, 'UNKNOWN_KIND', /"nobody\.knows".*correct the name/],
  ['an unknown kind with quotation marks', { kind: 'a "b" c', payload: {} }, 'UNKNOWN_KIND', /a "b" c/],
  ['a kind with a NUL character', { kind: 'nu\0l', payload: {} }, 'UNKNOWN_KIND', /nu.l/],
  ['a payload that fails its schema', strict({ to: 'nowhere' }), 'INVALID_PAYLOAD', /"strict".*to: /],
  ['a payload with a field too many', { kind: strict, payload: { to: 'a@b.example', cc: 1 } }, 'INVALID_PAYLOAD', /cc/],
  ['no payload where one is needed', { kind: strict, payload: undefined }, 'INVALID_PAYLOAD', /payload/],
  ['a payload over the limit', note({ text: 'x'.repeat(limitBytes) }), 'PAYLOAD_TOO_LARGE', /262144.*reference/],
  ['a payload over the limit in bytes only', note({ text: 'ü'.repeat(limitBytes / 2) }), 'PAYLOAD_TOO_LARGE', /262155 bytes/],
  ['a NUL character', note({ text: 'a\0b' }), 'PAYLOAD_NOT_STORABLE', /"note".*NUL.*remove/],
  ['a NUL character in a field name', note({ 'a\0b': 1 }), 'PAYLOAD_NOT_STORABLE', /NUL/],
  ['half of a surrogate pair', note({ text: 'a\ud83d' }), 'PAYLOAD_NOT_STORABLE', /surrogate/],
  ['a circular payload', note(circular), 'PAYLOAD_NOT_STORABLE', /circular/],
  ['a payload nested too deep', note({ deep }), 'PAYLOAD_NOT_STORABLE', /"note".*stack size/],
  ['a BigInt', note({ big: 1n }), 'PAYLOAD_NOT_STORABLE', /BigInt/],
  ['a function for a payload', { kind: 'note', payload: () => {} }, 'PAYLOAD_NOT_STORABLE', /no JSON form/],
  ['a negative delay', note({}, { delay: -1 }), 'INVALID_OPTION', /delay.*-1/],
  ['a delay in unknown words', note({}, { delay: 'soon' as '1s' }), 'INVALID_OPTION', /delay.*soon/],
  ['a delay of NaN', note({}, { delay: Number.NaN }), 'INVALID_OPTION', /delay/],
  ['a delay of for ever', note({}, { delay: Number.POSITIVE_INFINITY }), 'INVALID_OPTION', /delay/],
  ['a delay past the end of time', note({}, { delay: 1e300 }), 'INVALID_OPTION', /delay/],
  ['both runAt and delay', note({}, { runAt: new Date(), delay: 1 }), 'INVALID_OPTION', /either runAt or delay/],
  ['an Invalid Date', note({}, { runAt: new Date(Number.NaN) }), 'INVALID_OPTION', /runAt/],
  ['a date past the year 9999', note({}, { runAt: new Date(8.64e15) }), 'INVALID_OPTION', /runAt/],
  ['a date before 1970', note({}, { runAt: new Date(-8.64e15) }), 'INVALID_OPTION', /runAt/],
  ['a date as text', note({}, { runAt: '2030-01-01' as unknown as Date }), 'INVALID_OPTION', /runAt/],
  ['a priority out of range', note({}, { priority: 1_001 }), 'INVALID_OPTION', /priority.*1,000/],
  ['a fraction of a priority', note({}, { priority: 0.5 }), 'INVALID_OPTION', /priority/],
  ['an empty key', note({}, { key: '' }), 'INVALID_OPTION', /key/],
  ['a key of 600 characters', note({}, { key: 'k'.repeat(600) }), 'INVALID_OPTION', /key.*512/],
  ['a NUL character in a key', note({}, { key: 'a\0' }), 'INVALID_OPTION', /key.*NUL/],
  ['half of a surrogate pair in a key', note({}, { key: 'a\ud83d' }), 'INVALID_OPTION', /key.*surrogate/],
  ['half of a surrogate pair in an owner', note({}, { owner: '\ude00' }), 'INVALID_OPTION', /owner.*surrogate/],
  ['an empty owner', note({}, { owner: '' }), 'INVALID_OPTION', /owner/],
  ['an empty pool', note({}, { pool: '' }), 'INVALID_OPTION', /pool/],
  ['no attempts', note({}, { attempts: 0 }), 'INVALID_OPTION', /attempts/],
  ['an unknown dedupe mode', note({}, { dedupe: 'twice' as 'keep' }), 'INVALID_OPTION', /dedupe/],
  ['an unknown option', note({}, { prority: 1 } as object), 'INVALID_OPTION', /prority/],
  ['an option beside the payload', { kind: 'note', payload: {}, delay: '1h' }, 'INVALID_OPTION', /job\.delay.*into `options`/],
  ['an option beside that of a kind', { ...note({}), priority: 5 }, 'INVALID_OPTION', /job\.priority/],
]

describe('a job is refused, and nothing is stored, for', () => {
  // One database for all rows of the table: whatever is refused leaves it as it was.
  let database: TestDatabase
  let client: pg.Client
  let engine: Engine
  beforeAll(async () => {
    database = await createTestDatabase({ serverUrl: inject('serverUrl'), template: inject('template') })
    client = new pg.Client(database.url)
    await client.connect()
    engine = createEngine({ database: database.url, kinds: [note, strict], log: silentLog })
  })
  afterAll(async () => {
    await engine.stop()
    await client.end()
    await database.drop()
  })

  test.for(requests)('%s', async ([_mistake, request, code, names]) => {
    const count = async () => (await client.query('select from sluice.job')).rowCount
    const before = await count()
    const single = await refusal(() => engine.enqueue(request as never))
    const bulk = await refusal(() => engine.enqueueMany([note({}), request as never]))
    const joined = await refusal(() => engine.enqueue(request as never, { client }))
    for (const error of [single, bulk, joined]) {
      expect(error.code).toBe(code)
      expect(error.message).toMatch(names)
    }
    expect(await count()).toBe(before)
  })
})

test('a payload just under the limit is taken, whatever it is made of', async ({ engines }) => {
  const engine = engines({ kinds: [note] })
  const numbers = Array.from({ length: 100_000 }, () => 7)
  const digits = { list: numbers } // short in JSON, four times as long inside PostgreSQL
  await engine.enqueueMany([note({ text: 'x'.repeat(limitBytes - 11) }), note(digits)])
  await engine.enqueue(note(digits))
})

test('plain SQL is refused in codes of its own that say what to do', async ({ engines, client }) => {
  await engines({ kinds: [note] }).migrate()
  const calls: [string, string, RegExp][] = [
    [`sluice.enqueue('nobody.knows')`, 'SL001', /correct the name/],
    [`sluice.enqueue('note', mode => 'twice')`, 'SL002', /none, keep, replace, debounce or again/],
    [`sluice.enqueue('note', key => '')`, 'SL002', /Hash longer keys/],
    [`sluice.enqueue('note', key => repeat('k', 600))`, 'SL002', /Hash longer keys/],
    [`sluice.enqueue('note', priority => 100000)`, 'SL002', /Higher goes first/],
    [`sluice.enqueue('note', pool => '')`, 'SL002', /Leave out/],
    [`sluice.enqueue('note', owner => '')`, 'SL002', /Leave out/],
    [`sluice.enqueue('note', lane => repeat('l', 201))`, 'SL002', /Leave out/],
    [`sluice.enqueue('note', delay => '-5 minutes')`, 'SL002', /ready at once/],
    [`sluice.enqueue('note', delay => '500000 years')`, 'SL002', /ready at once/],
    [`sluice.enqueue('note', run_at => 'infinity')`, 'SL002', /ready at once/],
    [`sluice.enqueue('note', max_attempts => 0)`, 'SL002', /./],
    [`sluice.enqueue('note', run_at => now(), delay => '1s')`, 'SL002', /./],
    [`sluice.enqueue('note', jsonb_build_object('text', repeat('x', 262144)))`, 'SL003', /reference/],
    [`sluice.enqueue_alike('note', jsonb_build_array('{}'::jsonb, repeat('x', 6 * 262144)), true)`, 'SL003', /reference/],
    [`sluice.enqueue_alike('note', jsonb_build_array(repeat('x', 6 * 262144)), true)`, 'SL003', /reference/],
    [`sluice.enqueue_alike('nobody.knows', '[{}]', true)`, 'SL001', /correct the name/],
  ]
  for (const [call, code, hint] of calls)
    await expect(client.query(`select ${call}`), call).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) })
  expect((await client.query('select from sluice.job')).rowCount).toBe(0)
})

test('a bad member of concurrent single enqueues fails only its caller', async ({ engines, client }) => {
  const engine = engines({ kinds: [note, strict] })
  await engine.migrate()
  const bad = new Set([7, 20, 33])
  const answers = await Promise.allSettled(
    Array.from({ length: 40 }, (_, n) =>
      engine.enqueue(bad.has(n) ? { kind: `stranger.${n}`, payload: {} } : note({ text: `${n}` })),
    ),
  )
  answers.forEach((answer, n) => {
    if (answer.status === 'fulfilled') return expect(bad.has(n)).toBe(false)
    expect(answer.reason).toMatchObject({ code: 'UNKNOWN_KIND', message: expect.stringContaining(`"stranger.${n}"`) })
  })
  const { rows } = await client.query<{ text: string }>(`select payload ->> 'text' as text from sluice.job order by id`)
  const stored = rows.map(({ text }) => Number(text)).toSorted((a, b) => a - b)
  expect(stored).toEqual(Array.from({ length: 40 }, (_, n) => n).filter((n) => !bad.has(n)))
})

const kinds: [mistake: string, define: () => unknown, names: RegExp][] = [
  ['an empty name', () => defineKind('', { run: () => {} }), /kind.*no name/],
  ['a name with a space', () => defineKind('two words', { run: () => {} }), /two words/],
  ['no handler', () => defineKind('idle', {}), /idle\.run/],
  ['a pool without a name', () => defineKind('a', { pool: '', run: () => {} }), /a\.pool/],
  ['a priority out of range', () => defineKind('a', { priority: 5_000, run: () => {} }), /a\.priority.*1,000/],
  ['a time limit that is no duration', () => defineKind('a', { timeout: '1 hour' as '1h', run: () => {} }), /a\.timeout/],
  ['a time limit of nothing', () => defineKind('a', { timeout: 0, run: () => {} }), /a\.timeout/],
  ['no attempts', () => exponential({ attempts: 0 }), /retry\.attempts/],
  ['delays that are no list', () => delays('5m' as never), /delays.*takes a list/],
  [
    'a key that is left out',
    () => defineKind('a', { key: () => undefined as never, run: () => {} })({}),
    /a\.key: answered nothing/,
  ],
  [
    'a cost that is left out',
    () => defineKind('a', { cost: () => undefined as never, run: () => {} })({}),
    /a\.cost: answered nothing/,
  ],
  ['an unknown field', () => defineKind('a', { run: () => {}, retires: 3 } as object), /retires/],
  ['a run that has no plan', () => defineRun('a', {} as never), /a\.plan/],
]

test.for(kinds)('a kind is refused for %s', async ([_mistake, define, names]) => {
  const error = await refusal(define)
  expect(error.code).toBe('INVALID_OPTION')
  expect(error.message).toMatch(names)
})

const options: [mistake: string, options: Partial<EngineOptions>, code: ErrorCode, names: RegExp][] = [
  ['two kinds of one name', { kinds: [note, defineKind('note', { run: () => {} })] }, 'DUPLICATE_KIND', /"note"/],
  ['something that is no kind', { kinds: ['note' as never] }, 'INVALID_OPTION', /kinds.*defineKind/],
  [
    'a run among the kinds',
    { kinds: [defineRun('sync', { plan: () => {} }) as never] },
    'INVALID_OPTION',
    /kinds\.0: is a run and no kind; give it in `runs`/,
  ],
  ['a pool whose core is above its max', { pools: { light: { core: 2, max: 1 } } }, 'INVALID_OPTION', /pools\.light/],
  ['a lease too short to keep', { lease: '10ms' }, 'INVALID_OPTION', /lease.*500/],
  ['days that are not whole', { keepDays: 0.5 }, 'INVALID_OPTION', /keepDays/],
  ['too small a payload limit', { payloadBytesMax: 1 }, 'INVALID_OPTION', /payloadBytesMax/],
  ['an unknown option', { leese: '10s' } as object, 'INVALID_OPTION', /leese/],
  ['a log that is a function', { log: (() => {}) as never }, 'INVALID_OPTION', /log: takes an object with info, warn and error/],
  ['a log that leaves out errors', { log: { info() {}, warn() {} } as never }, 'INVALID_OPTION', /log/],
  ['a clock that is a number', { clock: 5 as never }, 'INVALID_OPTION', /clock/],
  ['a name with a NUL character', { name: 'a\0' }, 'INVALID_OPTION', /name.*NUL/],
  ['a pool with a NUL character', { pools: { 'nu\0l': { core: 1, max: 1 } } }, 'INVALID_OPTION', /pools\.nu\\u0000l: .*NUL/],
  ['a pool with half of a surrogate pair', { pools: { '\ud800': { core: 1, max: 1 } } }, 'INVALID_OPTION', /pools.*surrogate/],
  ['a lane with a NUL character', { lanes: { 'nu\0l': { cap: 1 } } }, 'INVALID_OPTION', /lanes\.nu\\u0000l: .*NUL/],
  ['a lane without a name', { lanes: { '': { cap: 1 } } }, 'INVALID_OPTION', /lanes\.: is empty/],
]

test.for(options)('an engine is refused for %s', async ([_mistake, wrong, code, names], { database }) => {
  const error = await refusal(() => createEngine({ database: database.url, ...wrong }))
  expect(error.code).toBe(code)
  expect(error.message).toMatch(names)
})

test.for([
  ['pool', 'a\0'],
  ['pool', '\ud800'],
  ['lane', 'a\0'],
  ['lane', '\ud800'],
] as const)('a kind is refused for a %s that PostgreSQL cannot store: %j', async ([field, name]) => {
  const error = await refusal(() => defineKind('odd', { [field]: name, run: () => {} }))
  expect(error.code).toBe('INVALID_OPTION')
  expect(error.message).toMatch(new RegExp(`odd\\.${field}: .*NUL character or half of a surrogate pair; remove it`))
})

const elsewhere = z.object({ n: z.number().refine(async () => true) })
const asking = defineKind('asking', { payload: elsewhere, run: () => {} })
const asked = defineEvent('asked', { payload: elsewhere })
const deeds: [mistake: string, act: (engine: Engine) => Promise<unknown>, names: RegExp][] = [
  ['a client that is nothing', (engine) => engine.enqueue(note({}), { client: null as never }), /client/],
  [
    'a pool in place of a client',
    (engine) => engine.enqueue(note({}), { client: new pg.Pool() }),
    /client: is a pool, which has no transaction/,
  ],
  [
    'a schema that asks somewhere else',
    (engine) => engine.enqueue(asking({ n: 1 })),
    /asking\.payload: has an asynchronous check/,
  ],
  [
    'an event whose schema asks somewhere else',
    (engine) => engine.publish(asked({ n: 1 })),
    /asked\.payload: has an asynchronous check/,
  ],
  ['a pause of nothing', (engine) => engine.pause(undefined as never), /pause: takes an object with scope and name/],
  ['a pause of no name', (engine) => engine.pause({ scope: 'kind' } as never), /name: is missing; give that of the kind/],
  ['a pause of an empty name', (engine) => engine.pause({ scope: 'owner', name: '' }), /name: is missing/],
  ['a reason that is an object', (engine) => engine.pause({ scope: 'pool', name: 'light' }, {} as never), /reason: is a text/],
  ['a reason with a NUL character', (engine) => engine.cancel(1, { reason: 'a\0' }), /reason.*NUL/],
  ['an owner with half of a surrogate pair', (engine) => engine.owners.set('a\ud800', { cap: 1 }), /owner: .*surrogate/],
  ['a lane with half of a surrogate pair', (engine) => engine.lanes.set('a\ud800', { cap: 1 }), /lane: .*surrogate/],
  ['a lane without a name', (engine) => engine.lanes.set('', { cap: 1 }), /lane: is empty/],
  [
    'a search for half of a surrogate pair',
    (engine) => engine.inspect.search({ payload: { a: '\ud800' } }),
    /payload: .*surrogate/,
  ],
  ['a list of a kind with half of a surrogate pair', (engine) => engine.inspect.jobs({ kind: '\ud800' }), /kind: .*surrogate/],
  ['the id of a run that is a text', (engine) => engine.runs.cancel('x' as never), /id of a run/],
  ['the id of an event that is a text', (engine) => engine.events.find('x' as never), /id of an event/],
  ['a transaction without a function', (engine) => engine.transaction(undefined as never), /transaction: takes a function/],
  ['a statement that is a text', (engine) => engine.query('select 1' as never), /statement: is none of sql-template-tag/],
  ['a hold that is a duration', (engine) => engine.lanes.hold('github', '5m' as never), /until: is no Date that lies ahead/],
  ['a hold in the past', (engine) => engine.owners.hold('somebody', new Date(0)), /until: is no Date that lies ahead/],
  ['a test kit without options', () => createTestKit(undefined as never), /createTestKit: takes an object with database/],
  [
    'a test kit without kinds',
    () => createTestKit({ database: 'postgres://nowhere' } as never),
    /createTestKit\.kinds: is no list/,
  ],
  [
    'a list of jobs that is larger than PostgreSQL takes at once',
    (engine) => {
      const large = note({ text: 'x'.repeat(250_000) })
      return engine.enqueueMany(Array.from({ length: 401 }, () => large))
    },
    /jobs: have 101 MB of payloads together, and one call takes 100; give them in several calls/,
  ],
  [
    'a list of jobs with a hole',
    (engine) => engine.enqueueMany(Object.assign([note({})], { length: 2 })),
    /jobs\[1\]: .*is no request/,
  ],
]

test.for(deeds)('an engine refuses %s', async ([_mistake, act, names], { engines }) => {
  const error = await refusal(() => act(engines({ kinds: [note] })))
  expect(error.code).toBe('INVALID_OPTION')
  expect(error.message).toMatch(names)
})

test('[E-02] a client of another database is refused by name, for jobs and for events', async ({ engines, database }) => {
  const happened = defineEvent('happened', { payload: z.object({}) })
  const engine = engines({ kinds: [note], events: [happened] })
  await engine.migrate()
  const url = new URL(database.url)
  url.pathname = '/postgres'
  const client = new pg.Client(url.href)
  await client.connect()
  await client.query('begin')
  for (const act of [() => engine.enqueue(note({}), { client }), () => engine.publish(happened({}), { client })]) {
    await client.query('savepoint before')
    await expect(act()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/client: is connected to a database without Sluice/),
    })
    await client.query('rollback to before')
  }
  await client.end()
})
