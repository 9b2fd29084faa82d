/** Live updates: one listener however many look, nothing missed by those who come back, nobody who holds up the others. */
import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { HandClock } from '@sluice/engine/testing'
import { expect } from 'vitest'
import { eventually } from '../../../../../test/support/database.ts'
import { type Http, happened, test } from '../../../../../test/support/http-scene.ts'
import { Stream } from '../../../../../test/support/live-stream.ts'
import { defaultLimits } from '../limits.ts'
import { LiveConnections, pingMs } from './connections.ts'
import { Feed } from './feed.ts'

const start = async (scene: Http): Promise<string> => {
  await scene.engine.start()
  return `${await scene.app.listen({ port: 0, host: '127.0.0.1' })}/api/events`
}

test('[O-04] a thousand browsers cost one LISTEN connection, and all of them hear', { timeout: 90_000 }, async ({
  http,
  client,
}) => {
  const scene = await http({ options: { pools: {} } })
  const url = await start(scene)
  const streams = await Promise.all(Array.from({ length: 1_000 }, () => Stream.open(url)))
  await scene.post('/api/jobs', { kind: 'idle' })
  await Promise.all(streams.map((stream) => stream.next('jobs')))
  const { rows } = await client.query(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'sluice listen'`,
  )
  expect(rows).toEqual([{ n: 1 }])
  for (const stream of streams) stream.close()
})

test('[O-04] whoever comes back gets what was missed, once and in order', async ({ http }) => {
  const scene = await http({ options: { pools: {} } })
  const url = await start(scene)
  const first = await Stream.open(url)
  const { id } = await first.next('hello')
  const other = await Stream.open(url)
  first.close()
  const { id: event } = await scene.engine.publish(happened({}))
  const seen = await other.nextWith(({ data }) => data.ids?.includes(event))
  const again = await Stream.open(url, { 'last-event-id': id })
  expect(await again.nextWith((heard) => heard.id === seen.id)).toEqual(seen)
  const upTo = (stream: Stream): string[] =>
    stream.ids.slice(0, stream.ids.indexOf(seen.id) + 1).filter((one) => one !== '' && one !== id)
  // Something may have happened before the other one came.
  expect(upTo(again).slice(-upTo(other).length)).toEqual(upTo(other))
  expect(new Set(upTo(again)).size).toBe(upTo(again).length)
  expect(again.names).not.toContain('reset')
  for (const stream of [other, again]) stream.close()
})

test.for(['another-7', 'nonsense', '-', 'x'.repeat(101)])(
  '[O-04] an id that is not known gives one reset: %s',
  async (id, { http }) => {
    const scene = await http({ options: { pools: {} } })
    const url = await start(scene)
    const stream = await Stream.open(url, { 'last-event-id': id })
    const reset = await stream.next('reset')
    const back = await Stream.open(url, { 'last-event-id': reset.id })
    expect(back.names[0]).toBe('hello')
    expect([...stream.names, ...back.names].filter((name) => name === 'reset')).toHaveLength(1)
    for (const one of [stream, back]) one.close()
  },
)

test('[O-04] what the ring does not hold any more gives a reset too', async ({ http }) => {
  const scene = await http({ options: { pools: {} }, limits: { liveEventsMax: 1 } })
  const url = await start(scene)
  const stream = await Stream.open(url)
  const { id } = await stream.next('hello')
  for (let n = 0; n < 2; n++) {
    const { id: event } = await scene.engine.publish(happened({ n }))
    await stream.nextWith(({ data }) => data.ids?.includes(event))
  }
  const back = await Stream.open(url, { 'last-event-id': id })
  expect(back.names[0]).toBe('reset')
  for (const one of [stream, back]) one.close()
})

test('[O-04] one timer pings all connections, only while there are any, and ends the oldest', async ({ http }) => {
  const clock = new HandClock()
  const scene = await http({ options: { pools: {} }, clock, limits: { liveMsMax: 3 * pingMs } })
  const url = await start(scene)
  const streams = [await Stream.open(url), await Stream.open(url)]
  clock.turn(pingMs)
  await Promise.all(streams.map((stream) => stream.ping()))
  clock.turn(2 * pingMs)
  await Promise.all(streams.map((stream) => stream.closed))
})

test('[O-04] there are only so many live connections', async ({ http }) => {
  const scene = await http({ options: { pools: {} }, limits: { livesMax: 1 } })
  const url = await start(scene)
  const stream = await Stream.open(url)
  const refused = await fetch(url)
  expect(await refused.json()).toMatchObject({ status: 503, code: 'LIVE_FULL' })
  expect(refused.headers.get('retry-after')).toBe('30')
  stream.close()
  await eventually(async () => {
    const later = await fetch(url)
    void later.body?.cancel()
    return later.status === 200
  })
})

test('[O-04] a process that stops lets its browsers go', async ({ http }) => {
  const scene = await http({ options: { pools: {} } })
  const stream = await Stream.open(await start(scene))
  await scene.app.close()
  await stream.closed
})

test('[O-04] a reader that does not read is cut, and the others go on', async ({ http }) => {
  const { engine } = await http({ options: { pools: {} } })
  await engine.start()
  const clock = new HandClock()
  const live = new LiveConnections(new Feed(engine, clock, 10), clock, { ...defaultLimits, liveBytesMax: 4_000, liveMsMax: 1e9 })
  const server = createServer((_request, response) => {
    response.writeHead(200)
    live.add(response, undefined)
  })
  const [stalled, good] = [connection(() => {}), connection((done) => done())]
  for (const socket of [stalled, good]) {
    server.emit('connection', socket)
    socket.push('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  }
  await eventually(() => live.size === 2)
  for (let n = 0; n < 500; n++) {
    clock.turn(pingMs)
    await setImmediate() // what is written leaves
  }
  await eventually(() => live.size === 1)
  expect([stalled.destroyed, good.destroyed]).toEqual([true, false])
  live.close()
  server.closeAllConnections()
})

/** A connection whose other side takes what is written, or does not. */
function connection(take: (done: () => void) => void): Duplex {
  return new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => take(done) })
}
