/** The Lua scripts, each alone, on a real Redis. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../../../test/support/database.ts'
import { isMissing } from '../../../../../test/support/missing-servers.ts'
import { type RedisServer, startRedis } from '../../../../../test/support/redis.ts'
import { loadScripts, runScript, type ScriptName } from './scripts.ts'

const prefix = 'test:{p}:'
const hourMs = 3_600_000

describe.skipIf(isMissing('redis-server'))('scripts', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
    loadScripts(redis.client)
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    await redis.client.flushall()
    for (const one of [0, 1, 2, 3, 4]) await redis.client.xgroup('CREATE', `${prefix}ready:${one}`, 'workers', '0', 'MKSTREAM')
  })

  const run = <T>(name: ScriptName, ...args: (string | number)[]): Promise<T> => runScript<T>(redis.client, name, prefix, args)
  const offer = (
    id: number,
    { lane = '', rank = id, cost = 1, due = '' as number | '', inClass = 2, kind = 'call' } = {},
  ): Promise<[string[], number]> => run('offer', 5_000, id, lane === '' ? inClass : 4, cost, rank, kind, lane, due)
  const take = async (count: number, consumer = 'me'): Promise<[number, string, string][]> =>
    (await run<[string, number]>('take', consumer, count))[0]
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ') as unknown as [number, string, string])
  const ids = (rows: readonly [number, string, string][]): number[] => rows.map(([, , id]) => Number(id))
  /** lane, metered, remaining, reset, floor, cap, closed, in flight, cost, weight, more */
  const copy = (
    lane: string,
    fields: Partial<
      Record<'metered' | 'remaining' | 'reset' | 'floor' | 'cap' | 'closed' | 'inFlight' | 'weight' | 'more', string | number>
    > = {},
  ) =>
    run(
      'copy-lanes',
      lane,
      fields.metered ?? 0,
      fields.remaining ?? '',
      fields.reset ?? '',
      fields.floor ?? 0,
      fields.cap ?? '',
      fields.closed ?? '',
      fields.inFlight ?? 0,
      fields.inFlight ?? 0,
      fields.weight ?? 1,
      fields.more ?? 0,
    )
  const acknowledge = (
    row: [number, string, string],
    lane = '',
    refund: number | '' = 0,
    said: number | '' = '',
    reset: number | '' = '',
  ) => run('acknowledge', row[2], row[0], row[1], lane, refund, said, reset)
  const remaining = async (lane: string): Promise<number> => Number(await redis.client.hget(`${prefix}lane:${lane}`, 'remaining'))
  const pending = async (): Promise<number> => ((await redis.client.xpending(`${prefix}ready:2`, 'workers')) as [number])[0]

  test('[D-01] an id that was offered is taken once, and gone when it is acknowledged', async () => {
    await offer(1)
    await offer(1)
    const [row] = await take(5)
    expect(row?.[2]).toBe('1')
    expect(await take(5)).toEqual([])
    expect(await pending()).toBe(1)
    await acknowledge(row as [number, string, string])
    expect(await pending()).toBe(0)
    expect(await redis.client.xlen(`${prefix}ready:2`)).toBe(0)
    expect(await redis.client.hlen(`${prefix}known`)).toBe(0)
  })

  test('[D-07] acknowledging one leaves what is not acknowledged, older or newer', async () => {
    for (const id of [1, 2, 3]) await offer(id)
    const rows = await take(2)
    await acknowledge(rows[1] as [number, string, string])
    expect(await redis.client.xlen(`${prefix}ready:2`)).toBe(2)
    expect(await pending()).toBe(1)
    expect(ids(await take(5))).toEqual([3])
  })

  test('[D-07] acknowledged in groups, what is not acknowledged stays, whether older or newer, handed out or not', async () => {
    for (let id = 1; id <= 12; id++) await offer(id)
    const rows = await take(10)
    const end = (from: number, to: number): Promise<unknown> =>
      run(
        'acknowledge-open',
        rows
          .slice(from, to)
          .map(([inClass, entry, id]) => `${id} ${inClass} ${entry}`)
          .join('\n'),
      )
    const left = async (): Promise<number[]> =>
      (await redis.client.xrange(`${prefix}ready:2`, '-', '+')).map(([, fields]) => Number(fields[1]))
    await end(6, 9)
    expect(await left()).toEqual([1, 2, 3, 4, 5, 6, 10, 11, 12])
    await end(0, 4)
    expect(await left()).toEqual([5, 6, 10, 11, 12])
    expect(await pending()).toBe(3)
    await end(4, 6)
    await end(9, 10)
    expect(await left()).toEqual([11, 12])
    expect(ids(await take(5))).toEqual([11, 12])
    expect(await redis.client.hlen(`${prefix}known`)).toBe(2)
  })

  test('[D-10] of all classes the smallest rank goes first: urgent before usual, and what has waited long before both', async () => {
    await offer(1, { inClass: 2, rank: 1_000 })
    await offer(2, { inClass: 0, rank: 400 })
    await offer(3, { inClass: 0, rank: 1_400 })
    await offer(4, { inClass: 3, rank: 100 })
    expect(ids(await take(10))).toEqual([4, 2, 1, 3])
  })

  describe('give back', () => {
    /** What a blocking read does when several streams have something: one of each. */
    const read = async (consumer: string, ...inClasses: number[]): Promise<[number, string, string][]> => {
      const streams = inClasses.map((one) => `${prefix}ready:${one}`)
      const marks = streams.map(() => '>')
      const words = ['COUNT', 1, 'STREAMS', ...streams, ...marks] as unknown as ['STREAMS', string, string]
      const answer = (await redis.client.xreadgroup('GROUP', 'workers', consumer, ...words)) as [string, [string, string[]][]][]
      return answer.flatMap(([stream, entries]) =>
        entries.map(([entry, fields]): [number, string, string] => [
          inClasses[streams.indexOf(stream)] ?? 0,
          entry,
          fields[1] ?? '',
        ]),
      )
    }
    const giveBack = (...rows: readonly [number, string, string][]): Promise<string[]> =>
      run('give-back', ...rows.flatMap(([inClass, entry, id]) => [id, inClass, entry]))

    test('[D-10] what is put back keeps its place, before those behind it', async () => {
      for (const id of [1, 2, 3]) await offer(id, { inClass: 2 })
      await offer(4, { inClass: 3 })
      await take(1)
      const rows = await read('me', 2, 3)
      expect(ids(rows)).toEqual([2, 4])
      expect(await giveBack(...rows)).toEqual([])
      expect(await pending()).toBe(1)
      expect(ids(await take(5))).toEqual([2, 3, 4])
    })

    test('[D-10] what somebody else has overtaken stays with its consumer', async () => {
      for (const id of [1, 2]) await offer(id)
      const rows = await read('me', 2)
      await take(1, 'other')
      expect(await giveBack(...rows)).toEqual(['1'])
      expect(await take(5)).toEqual([])
      expect(await pending()).toBe(2)
    })

    test('[D-10] the last of its stream wakes whoever sleeps', async () => {
      const sleeper = redis.client.duplicate()
      await offer(1)
      const rows = await read('me', 2)
      const words = ['BLOCK', 25_000, 'STREAMS', `${prefix}ready:2`, '>'] as unknown as ['STREAMS', string, string]
      const sleeping = sleeper.xreadgroup('GROUP', 'workers', 'sleeper', ...words)
      await eventually(async () => (await redis.client.info('clients')).includes('blocked_clients:1'))
      expect(await giveBack(...rows)).toEqual([])
      expect(await sleeping).toMatchObject([
        [`${prefix}ready:2`, [[expect.any(String), ['id', '1', 'rank', '1', 'kind', 'call']]]],
      ])
      sleeper.disconnect()
    })
  })

  test('[D-03] a lane nobody knows is asked for; with its copy come as many as it has permits for, and not one more', async () => {
    for (const id of [1, 2, 3, 4, 5]) expect((await offer(id, { lane: 'l', rank: 9 - id }))[0]).toEqual(['l'])
    expect(await take(10)).toEqual([])
    await copy('l', { metered: 1, remaining: 5, floor: 2, reset: hourMs })
    expect(ids(await take(10))).toEqual([5, 4, 3])
    expect(await remaining('l')).toBe(2)
    expect(await redis.client.zcard(`${prefix}lane:l:parked`)).toBe(2)
  })

  test('[D-03] a cap lets so many out, and an acknowledgement the next; costs are counted', async () => {
    for (const id of [1, 2, 3]) await offer(id, { lane: 'l', cost: 4 })
    await copy('l', { cap: 1, metered: 1, remaining: 10, reset: hourMs })
    const [row] = await take(10)
    expect(row?.[2]).toBe('1')
    expect(await take(10)).toEqual([])
    await acknowledge(row as [number, string, string], 'l')
    expect(ids(await take(10))).toEqual([2])
    expect(await remaining('l')).toBe(2)
  })

  test('[D-03] what was released and is not claimed yet counts against a newer copy', async () => {
    for (const id of [1, 2, 3, 4]) await offer(id, { lane: 'l' })
    await copy('l', { metered: 1, remaining: 2, reset: hourMs })
    await copy('l', { metered: 1, remaining: 2, reset: hourMs })
    expect(ids(await take(10))).toEqual([1, 2])
    expect(await remaining('l')).toBe(0)
  })

  test('[D-03] nothing known of a budget: one goes out to find out, and its answer lets the others go', async () => {
    for (const id of [1, 2, 3, 4]) await offer(id, { lane: 'l' })
    await copy('l', { metered: 1 })
    const [probe] = await take(10)
    expect(await take(10)).toEqual([])
    await acknowledge(probe as [number, string, string], 'l', 0, 2, Date.now() + hourMs)
    expect(ids(await take(10))).toEqual([2, 3])
  })

  test.for([1, 3, 50])('[D-03] lanes share what is taken by their weights, %i at a time', async (count) => {
    const weights = { a: 1, b: 2, c: 4 }
    let id = 0
    for (const [lane, weight] of Object.entries(weights)) {
      for (let n = 0; n < 400; n++) await offer(++id, { lane })
      await copy(lane, { weight })
    }
    await take(16) // let out for the first lane before the others were known
    const got = { a: 0, b: 0, c: 0 }
    for (let sum = 0; sum < 420; ) {
      const rows = await take(Math.min(count, 420 - sum))
      sum += rows.length
      // The first come last back: in which order they end must not count.
      for (const row of rows.toReversed()) {
        const lane = (['a', 'b', 'c'] as const)[Math.floor((Number(row[2]) - 1) / 400)] as 'a' | 'b' | 'c'
        got[lane]++
        await acknowledge(row, lane)
      }
    }
    for (const [lane, weight] of Object.entries(weights))
      expect(Math.abs(got[lane as 'a'] / 420 / (weight / 7) - 1), JSON.stringify(got)).toBeLessThan(0.1)
  })

  test('[D-03] lanes that come one after the other while nobody takes are all served before one is served twice', async () => {
    for (let id = 1; id <= 400; id++) await offer(id, { lane: `l:${id % 100}` })
    for (let n = 0; n < 100; n++) await copy(`l:${n}`)
    await take(16) // all of the first four lanes, let out before the others were known
    for (const round of [1, 2, 3, 4]) {
      const lanes = new Set(ids(await take(96)).map((id) => id % 100))
      expect(lanes.size, `round ${round}`).toBe(96)
    }
  })

  test('[D-03] a newcomer goes before lanes that were served, and lanes take turns with the open lane', async () => {
    for (let id = 1; id <= 300; id++) await offer(id, { lane: `busy:${id % 3}` })
    for (const n of [0, 1, 2]) await copy(`busy:${n}`)
    await take(100)
    for (let id = 301; id <= 400; id++) await offer(id)
    await offer(500, { lane: 'stranger' })
    await copy('stranger')
    const next = ids(await take(150))
    expect(next).toContain(500)
    expect(next.filter((id) => id > 300 && id <= 400)).toHaveLength(75)
    const single = [ids(await take(1)), ids(await take(1))].flat()
    expect(single.filter((id) => id > 300 && id <= 400)).toHaveLength(1)
  })

  test('[D-03] a lane that runs dry here while PostgreSQL has more is asked for once', async () => {
    for (let id = 1; id <= 100; id++) await offer(id, { lane: 'l' })
    await copy('l', { more: 1 })
    const [lines, , dry] = await run<[string, number, string[]]>('take', 'me', 5)
    expect([lines.split('\n').length, dry]).toEqual([5, ['l']])
    expect(await run('take', 'me', 5)).toEqual([expect.any(String), 0, []])
  })

  test('[D-04] a newer window wins, in a window the smaller number, an older one is ignored, and it all expires', async () => {
    await offer(1, { lane: 'l' })
    await copy('l', { metered: 1, remaining: 50, reset: hourMs })
    const [row] = await take(1)
    const reset = Date.now() + hourMs
    const hear = (said: number, at: number): Promise<unknown> => acknowledge(row as [number, string, string], 'l', 0, said, at)
    await hear(40, reset)
    expect(await remaining('l')).toBe(40)
    await hear(45, reset)
    expect(await remaining('l')).toBe(40)
    await hear(10, reset - 60_000)
    expect(await remaining('l')).toBe(40)
    await hear(100, reset + 60_000)
    expect(await remaining('l')).toBe(100)
    expect(await redis.client.pttl(`${prefix}lane:l`)).toBeGreaterThan(hourMs)
  })

  test('[D-04] when a window is over the next one counts, however soon it ends', async () => {
    for (let id = 1; id <= 20; id++) await offer(id, { lane: 'l' })
    await copy('l', { metered: 1, remaining: 0, reset: -100 })
    const overMs = Date.now() - 100
    const [probe] = await take(20)
    expect(await take(20)).toEqual([])
    // Sooner after the end of the last one than what counts as one window, and not over before we have looked.
    await acknowledge(probe as [number, string, string], 'l', 0, 9, Math.max(overMs + 4_900, Date.now() + 4_000))
    expect(await take(20)).toHaveLength(9)
  })

  test('[D-03] a refusal parks the id and closes its lane until PostgreSQL is asked; nothing goes round', async () => {
    for (const id of [1, 2]) await offer(id, { lane: 'l' })
    await copy('l', { cap: 1 })
    const [row] = await take(5)
    expect(await run('refuse', row?.[2] ?? '', row?.[0] ?? 0, row?.[1] ?? '', 'lane', '')).toEqual([[], ['l']])
    expect(await take(5)).toEqual([])
    expect(await redis.client.zcard(`${prefix}lane:l:parked`)).toBe(2)
    await copy('l', { cap: 1 })
    expect(ids(await take(5))).toEqual([1])
  })

  test('[D-05] a delayed id comes when it is due, tells the leader, and the next due time is known', async () => {
    const heard: string[] = []
    const listener = redis.client.duplicate()
    listener.on('message', (_, message) => heard.push(message))
    await listener.subscribe(`${prefix}news`)
    const now = Date.now()
    await offer(1, { due: now + hourMs })
    await offer(2, { due: now - 1 })
    const [moved, , next] = await run<[number, string[], string]>('move-due', 10)
    expect(moved).toBe(1)
    expect(Number(next)).toBeGreaterThan(hourMs - 10_000)
    expect(ids(await take(5))).toEqual([2])
    await eventually(() => heard.length === 2)
    expect(heard).toEqual([`due:${now + hourMs}`, `due:${now - 1}`])
    listener.disconnect()
  })

  test('[D-02] a trimmed entry is offered again', async () => {
    await offer(1)
    await redis.client.xtrim(`${prefix}ready:2`, 'MAXLEN', 0)
    await offer(1)
    expect(ids(await take(5))).toEqual([1])
  })

  test('[D-02] an entry whose consumer somebody removed is offered again, one that waits or is held is not', async () => {
    for (const id of [1, 2, 3]) await offer(id)
    await take(1, 'removed')
    await take(1, 'alive')
    await redis.client.xgroup('DELCONSUMER', `${prefix}ready:2`, 'workers', 'removed')
    for (const id of [1, 2, 3]) await offer(id)
    expect(ids(await take(5))).toEqual([3, 1])
    expect(await redis.client.xlen(`${prefix}ready:2`)).toBe(3)
  })

  test('[D-02] what a consumer left is taken over', async () => {
    await offer(1)
    await take(1, 'dead')
    expect(await run('take-over', 'leader', 60_000, 10)).toEqual([])
    expect(ids(await run('take-over', 'leader', 0, 10))).toEqual([1])
  })

  test('[E-07] what a consumer does not know is set apart at once, however much it is, and whoever knows it is told and takes it', async () => {
    const heard: string[] = []
    const listener = redis.client.duplicate()
    listener.on('message', (_, message) => heard.push(message))
    await listener.subscribe(`${prefix}news`)
    for (let id = 1; id <= 300; id++) await offer(id, { inClass: 0, kind: 'brand.new' })
    await offer(301, { inClass: 0 })
    await offer(302, { inClass: 2, rank: 302 })
    const [lines] = await run<[string]>('take', 'old', 1, 'brand.new', 'other.kind')
    expect(lines).toMatch(/ 301$/)
    expect((await run<[string]>('take', 'old', 1, 'brand.new'))[0]).toMatch(/ 302$/)
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['strange'])
    // Offered again by the leader, they stay where they are.
    await offer(1, { inClass: 0, kind: 'brand.new' })
    expect(await run('adopt', 5, 'brand.new')).toBe('')
    const adopted = (await run<string>('adopt', 2, 'other.kind')).split('\n').map((line) => line.split(' '))
    expect(adopted).toEqual([
      ['0', '0-0', '1'],
      ['0', '0-0', '2'],
    ])
    await run('acknowledge-open', '1 0 0-0')
    expect(await redis.client.hexists(`${prefix}known`, '1')).toBe(0)
    // The one who took the other has died: it is ready in PostgreSQL, and the leader brings it.
    await offer(2, { inClass: 0, kind: 'brand.new' })
    expect(ids(await take(1, 'new'))).toEqual([2])
    listener.disconnect()
  })

  test('[E-07] a strange job of a lane gives its permits back, and those behind it go on', async () => {
    await offer(1, { lane: 'l', kind: 'brand.new' })
    await offer(2, { lane: 'l' })
    await copy('l', { metered: 1, remaining: 1, reset: hourMs })
    const [lines] = await run<[string]>('take', 'old', 1, 'brand.new')
    expect(lines).toMatch(/^4 \S+ 2$/)
    expect(await remaining('l')).toBe(0)
    expect(await run('adopt', 5)).toBe('4 0-0 1')
  })

  test('[D-06] the lock is taken once, renewed and released by its holder only, and ends by itself', async () => {
    expect(await run('lead', 'a', 60_000)).toBe(2)
    expect(await run('lead', 'b', 60_000)).toBeLessThan(-5_000)
    expect(await run('lead', 'a', 60_000)).toBe(1)
    expect(await run('resign', 'b')).toBe(0)
    expect(await run('lead', 'b', 60_000)).toBeLessThan(-5_000)
    expect(await redis.client.pttl(`${prefix}leader`)).toBeGreaterThan(5_000)
    expect(await run('resign', 'a')).toBe(1)
    expect(await run('lead', 'b', 60_000)).toBe(2)
  })

  test('a limit on what is kept here: the rest stays in PostgreSQL, and the takers are told that there is more', async () => {
    const rows = [1, 2, 3].flatMap((id) => [id, 2, 1, id, 'call', '', ''])
    expect(await run('offer', 2, ...rows)).toEqual([[], 1])
    expect(await run('take', 'me', 5)).toEqual([expect.stringMatching(/^2 \S+ 1\n2 \S+ 2$/), 1, []])
    expect(await run('measure')).toEqual(['length', 2, 'pending', 2, 'lag', 0, 'delayed', 0, 'parked', 0, 'takenOver', 0])
  })
})
