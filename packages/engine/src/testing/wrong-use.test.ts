/** The kit in careless hands: whatever plain JavaScript gives it, the answer has a code, names the field and says what to do. */
import { defineEvent, defineRun, SluiceError } from '@sluice/engine'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { done } from '../job/outcome.ts'
import { defineSchedule } from '../schedule/schedule.ts'
import { HandClock } from './hand-clock.ts'
import { runHandler } from './run-handler.ts'
import { createTestKit, type TestKit } from './test-kit.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- what plain JavaScript gives has no type
type Anything = any
type Row<Given extends unknown[] = []> = [mistake: string, act: (...given: Given) => unknown, says: RegExp, code?: string]

const strict = defineKind('strict', { payload: z.object({ n: z.number() }), run: () => {} })
const idle = defineKind('idle', { run: () => {} })
const nightly = defineRun('nightly', { plan: () => {} })
const closed = defineEvent('closed')
const nothing = undefined as Anything

async function refuses(rows: readonly Row[]): Promise<void> {
  for (const [mistake, act, says, code = 'INVALID_OPTION'] of rows) {
    const error: unknown = await Promise.resolve()
      .then(act)
      .then(
        () => 'it was accepted',
        (thrown: unknown) => thrown,
      )
    expect.soft(error, mistake).toBeInstanceOf(SluiceError)
    expect.soft(error, mistake).toMatchObject({ code, message: expect.stringMatching(says) })
  }
}

const noKind = /runHandler\.kind: is no kind; give what defineKind made/
const handlers: Row[] = [
  ['no arguments', () => (runHandler as Anything)(), noKind],
  ['a name', () => runHandler('strict' as Anything, {}), noKind],
  ['null', () => runHandler(null as Anything, {}), noKind],
  ['an object', () => runHandler({} as Anything, {}), noKind],
  ['a function', () => runHandler((() => {}) as Anything, {}), noKind],
  ['a request', () => runHandler(strict({ n: 1 }) as Anything, {}), noKind],
  ['an event', () => runHandler(closed as Anything, {}), noKind],
  ['a run', () => runHandler(nightly as Anything, {}), /runHandler\.kind: is a run and no kind; give one of its `kinds`/],
  ['no payload', () => (runHandler as Anything)(strict), /"strict".*n: /, 'INVALID_PAYLOAD'],
  ['a wrong payload', () => runHandler(strict, { n: 'one' as Anything }), /"strict".*n: /, 'INVALID_PAYLOAD'],
  ['a payload without JSON', () => runHandler(idle, { n: 1n } as Anything), /"idle".*BigInt/, 'PAYLOAD_NOT_STORABLE'],
  ['options of null', () => runHandler(idle, {}, null as Anything), /runHandler: takes an object with services and context/],
  ['an option of another name', () => runHandler(idle, {}, { attempt: 2 } as Anything), /has no "attempt"; it takes services/],
  ['a context that is none', () => runHandler(idle, {}, { context: 2 as Anything }), /context: takes an object with id, /],
  ['a wrong attempt', () => runHandler(idle, {}, { context: { attempt: '2' as Anything } }), /context\.attempt: .*number/],
  ['no attempt', () => runHandler(idle, {}, { context: { attempt: 0 } }), /context\.attempt: /],
  ['a payload in the context', () => runHandler(idle, {}, { context: { payload: {} } as Anything }), /context: has no "payload"/],
  ['a wrong signal', () => runHandler(idle, {}, { context: { signal: true as Anything } }), /context\.signal: .*AbortSignal/],
  ['a wrong log', () => runHandler(idle, {}, { context: { log: console as Anything } }), /context\.log: is no function/],
  [
    'a wrong time',
    () => runHandler(idle, {}, { context: { createdAt: '2026' as Anything } }),
    /context\.createdAt: must be a Date, and is a text/,
  ],
  [
    'a module that nothing stands in for',
    () => runHandler(defineKind('heavy', { module: new URL('file:///nowhere.js') }), {}),
    /context\.compute: is missing; give a function/,
  ],
]

test('[E-28] a handler that is run in a wrong way is not run, and the error names what is wrong', async () => {
  await refuses(handlers)
})

test('[E-28] what a context leaves undefined has its default', async () => {
  const listens = defineKind('listens', { run: ({ signal, attempt }) => (signal.aborted || attempt > 1 ? undefined : done()) })
  const context = { signal: nothing, attempt: nothing }
  await expect(runHandler(listens, {}, { context })).resolves.toEqual({ type: 'done' })
})

const clocks: Row[] = [
  ['a start that is text', () => new HandClock('2030-01-01' as Anything), /start: is no usable Date/],
  ['a start that is no time', () => new HandClock(new Date('soon')), /start: is no usable Date/],
  ['a turn in unknown words', () => new HandClock().turn('5 parsecs' as Anything), /turn: "5 parsecs" is no duration/],
  ['a turn by nothing', () => new HandClock().turn(nothing), /turn: undefined is no duration/],
  ['a turn back', () => new HandClock().turn(-1), /turn: -1 is no duration/],
  ['a timer without a time', () => new HandClock().after(nothing, () => {}), /after\.ms: is no number/],
  ['a timer with nothing to do', () => new HandClock().after(1, nothing), /after\.act: is no function/],
]

test('[E-28] a clock that is turned in a wrong way stays where it is, and the error names what is wrong', async () => {
  await refuses(clocks)
})

test('[E-28] a clock takes durations as people write them', () => {
  const clock = new HandClock()
  clock.turn('2s')
  expect(clock.monotonic()).toBe(2_000)
})

const creations: Row<[url: string]>[] = [
  ['no options', () => (createTestKit as Anything)(), /createTestKit: takes an object with database/],
  ['an option of another name', (url) => createTestKit({ database: url, kind: [] } as Anything), /has no "kind"; it takes/],
  ['no database', () => createTestKit({ kinds: [] } as Anything), /database: give the address/],
  ['no address', () => createTestKit({ database: 'here', kinds: [] }), /not a URL/, 'DATABASE_URL_INVALID'],
  ['one kind', (url) => createTestKit({ database: url, kinds: idle as Anything }), /createTestKit\.kinds: is no list/],
  ['no kind', (url) => createTestKit({ database: url, kinds: [idle, nothing] }), /createTestKit\.kinds\.1: is no kind/],
  ['a run', (url) => createTestKit({ database: url, kinds: [nightly as Anything] }), /createTestKit\.kinds\.0: is a run/],
  ['a kind twice', (url) => createTestKit({ database: url, kinds: [idle, idle] }), /"idle"/, 'DUPLICATE_KIND'],
  ['no schedule', (url) => createTestKit({ database: url, kinds: [], schedules: [{} as Anything] }), /schedules\.0: is no sched/],
  ['no event', (url) => createTestKit({ database: url, kinds: [], events: ['closed' as Anything] }), /events\.0: is no event/],
  ['no migrations', (url) => createTestKit({ database: url, kinds: [], migrations: 'x' as Anything }), /migrations: is no list/],
  ['no folder', (url) => createTestKit({ database: url, kinds: [], migrations: [{ name: 'x' } as Anything] }), /0: .*folder/],
]

test('[E-28] a kit that is asked for in a wrong way is not made, and the error names what is wrong', async ({ database }) => {
  await refuses(creations.map(([mistake, act, ...rest]) => [mistake, () => act(database.url), ...rest]))
})

test('[E-28] a kit that could not be made leaves no connection behind', async ({ database, client }) => {
  const stray = defineSchedule('stray', { cron: '@daily', job: strict({ n: 'one' as Anything }) })
  const made = createTestKit({ database: database.url, kinds: [strict], schedules: [stray] })
  await expect(made).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  const connections = `select from pg_stat_activity where datname = current_database() and application_name = 'sluice pool'`
  await eventually(async () => (await client.query(connections)).rowCount === 0, 10_000) // by itself an idle one goes after 30 s
})

const noId = /id of a job: is a whole number/
const noRequest = /job: is no request for a job; call its kind/
const calls: Row<[kit: TestKit]>[] = [
  ['no id', (kit) => (kit as Anything).find(), noId],
  ['a text for an id', (kit) => kit.find('x' as Anything), noId],
  ['an id as text', (kit) => kit.find('1' as Anything), noId],
  ['an object for an id', (kit) => kit.find({ id: 1 } as Anything), /id of a job: .*give its id/],
  ['a fraction', (kit) => kit.find(1.5), noId],
  ['no number', (kit) => kit.find(Number.NaN), noId],
  ['zero', (kit) => kit.find(0), /id of a job: is a whole number from 1 on/],
  ['less than zero', (kit) => kit.find(-1), /id of a job: is a whole number from 1 on/],
  ['a log of no job', (kit) => kit.jobLog('x' as Anything), noId],
  ['a log of less than zero', (kit) => kit.jobLog(-1), noId],
  ['a page that is none', (kit) => kit.jobLog(1, null as Anything), /page: /],
  ['an empty page', (kit) => kit.jobLog(1, { limit: 0 }), /limit: /],
  ['no duration', (kit) => (kit as Anything).advance(), /advance: undefined is no duration/],
  ['a duration in unknown words', (kit) => kit.advance('5 parsecs' as Anything), /advance: "5 parsecs" is no duration/],
  ['a step back', (kit) => kit.advance(-1), /advance: -1 is no duration/],
  ['a drain of null', (kit) => kit.drain(null as Anything), /drain: takes an object with max/],
  ['a drain of a number', (kit) => kit.drain(5 as Anything), /drain: takes an object with max/],
  ['a drain with another name', (kit) => kit.drain({ limit: 5 } as Anything), /drain: has no "limit"; it takes max/],
  ['a drain of none', (kit) => kit.drain({ max: 0 }), /drain\.max: is a whole number from 1 on/],
  ['a drain of many', (kit) => kit.drain({ max: 'many' as Anything }), /drain\.max: is a whole number/],
  ['no request', (kit) => (kit as Anything).enqueue(), noRequest],
  ['a kind that was not called', (kit) => kit.enqueue(idle as Anything), noRequest],
  ['a delay beside the request', (kit) => (kit as Anything).enqueue(idle({}), { delay: '1h' }), /kit\.enqueue: takes no options/],
  ['a client', (kit) => (kit as Anything).enqueueMany([idle({})], { client: {} }), /kit\.enqueueMany: takes no .*client/],
  ['one request for many', (kit) => kit.enqueueMany(idle({}) as Anything), /jobs: is no list/],
  ['nothing for many', (kit) => (kit as Anything).enqueueMany(), /jobs: is no list/],
  ['no request among many', (kit) => kit.enqueueMany([idle({}), nothing]), /^jobs\[1\]: .*is no request for a job/],
  ['a wrong payload of a name', (kit) => kit.enqueue({ kind: 'strict', payload: {} }), /"strict".*n: /, 'INVALID_PAYLOAD'],
  ['nothing to publish', (kit) => (kit as Anything).publish(), /event: is nothing to publish/],
  ['a wrong option to publish', (kit) => kit.publish(closed({}), { owner: 'a' } as Anything), /publish: has no "owner"/],
  ['no event', (kit) => kit.events.find('x' as Anything), /id of an event: is a whole number/],
]

test('[E-28] what a kit is asked in a wrong way changes nothing, and the error names what is wrong', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [strict, idle], events: [closed] })
  await refuses(calls.map(([mistake, act, ...rest]) => [mistake, () => act(kit), ...rest]))
  expect(await kit.drain()).toEqual([])
  await kit.close()
})

const lateCalls: [call: string, act: (kit: TestKit) => unknown][] = [
  ['enqueue', (kit) => kit.enqueue(idle({}))],
  ['enqueueMany', (kit) => kit.enqueueMany([])],
  ['publish', (kit) => kit.publish(closed({}))],
  ['find', (kit) => kit.find(1)],
  ['jobLog', (kit) => kit.jobLog(1)],
  ['advance', (kit) => kit.advance('1h')],
  ['drain', (kit) => kit.drain()],
  ['events.publish', (kit) => kit.events.publish(closed({}))],
  ['events.list', (kit) => kit.events.list()],
  ['events.find', (kit) => kit.events.find(1)],
  ['schedules.set', (kit) => kit.schedules.set('daily', { cron: '@daily', job: idle({}) })],
  ['schedules.list', (kit) => kit.schedules.list()],
  ['schedules.show', (kit) => kit.schedules.show('daily')],
  ['schedules.pause', (kit) => kit.schedules.pause('daily')],
  ['schedules.resume', (kit) => kit.schedules.resume('daily')],
  ['schedules.runNow', (kit) => kit.schedules.runNow('daily')],
  ['schedules.remove', (kit) => kit.schedules.remove('daily')],
]

test('[E-28] a kit that is closed says so, whatever it is asked, and may be closed again', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [idle], events: [closed] })
  await Promise.all([kit.close(), kit.close()])
  await refuses(
    lateCalls.map(([call, act]) => [call, () => act(kit), /^This test kit is closed: .*Create a new one/, 'ENGINE_STOPPED']),
  )
  await kit.close()
})

test('[E-28] a kit that is closed after its database has gone says what PostgreSQL said, and is closed all the same', async ({
  database,
}) => {
  const kit = await createTestKit({ database: database.url, kinds: [] })
  await database.drop()
  await expect(kit.close()).rejects.toMatchObject({ code: expect.stringMatching(/^DATABASE_/) })
  await expect(kit.find(1)).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test('[E-28] a drain that gave up keeps no job back from the next', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [idle] })
  await kit.enqueueMany([idle({}), idle({}), idle({})])
  await expect(kit.drain({ max: 1 })).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { field: 'drain.max' } })
  expect(await kit.drain()).toMatchObject([
    { id: 2, attempt: 1, outcome: 'done' },
    { id: 3, attempt: 1, outcome: 'done' },
  ])
  await kit.close()
})

test('[E-28] a kit that is closed in the middle of a handler hands its job back', async ({ database, client }) => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  let began = false
  const gated = defineKind('gated', {
    async run() {
      began = true
      await gate
    },
  })
  const kit = await createTestKit({ database: database.url, kinds: [gated] })
  await kit.enqueue(gated({}))
  const ended = expect(kit.drain()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await eventually(() => began)
  await kit.close()
  open()
  await ended
  expect((await client.query('select worker, attempt from sluice.job')).rows).toEqual([{ worker: null, attempt: 0 }])
  expect((await client.query('select from sluice.worker')).rowCount).toBe(0)
})

test('[E-28] a drain that nobody waited for ends with the kit', async ({ database }) => {
  const kit = await createTestKit({ database: database.url, kinds: [idle] })
  await kit.enqueueMany(Array.from({ length: 20 }, () => idle({})))
  const drained = kit.drain()
  const ended = expect(drained).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await kit.close()
  await ended
})
