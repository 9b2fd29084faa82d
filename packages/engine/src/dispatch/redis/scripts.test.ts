/** The Lua scripts, each alone, on a real Redis. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
    for (const one of [0, 1, 2, 3]) await redis.client.xgroup('CREATE', `${prefix}ready:${one}`, 'workers', '0', 'MKSTREAM')
  })

  const run = <T>(name: ScriptName, ...args: (string | number)[]): Promise<T> => runScript<T>(redis.client, name, prefix, args)
  const offer = (
    id: number,
    { lane = '', rank = id, cost = 1, due = '' as number | '', inClass = 2 } = {},
  ): Promise<[string[], number]> => run('offer', 1_000, id, inClass, cost, rank, lane, due)
  const take = async (count: number, consumer = 'me'): Promise<[number, string, string][]> =>
    (await run<[[number, string, string][], number]>('take', consumer, count))[0]
  const ids = (rows: readonly [number, string, string][]): number[] => rows.map(([, , id]) => Number(id))
  /** lane, metered, remaining, reset, floor, cap, closed, in flight, cost, more */
  const copy = (
    lane: string,
    fields: Partial<Record<'metered' | 'remaining' | 'reset' | 'floor' | 'cap' | 'closed' | 'inFlight', string | number>> = {},
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
      0,
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

  test('[D-10] of all classes the smallest rank goes first: urgent before usual, and what has waited long before both', async () => {
    await offer(1, { inClass: 2, rank: 1_000 })
    await offer(2, { inClass: 0, rank: 400 })
    await offer(3, { inClass: 0, rank: 1_400 })
    await offer(4, { inClass: 3, rank: 100 })
    expect(ids(await take(10))).toEqual([4, 2, 1, 3])
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
    await expect.poll(() => heard).toEqual([`due:${now + hourMs}`, `due:${now - 1}`])
    listener.disconnect()
  })

  test('[D-02] a trimmed entry is offered again', async () => {
    await offer(1)
    await redis.client.xtrim(`${prefix}ready:2`, 'MAXLEN', 0)
    await offer(1)
    expect(ids(await take(5))).toEqual([1])
  })

  test('[D-02] what a consumer left is taken over', async () => {
    await offer(1)
    await take(1, 'dead')
    expect(await run('take-over', 'leader', 60_000, 10)).toEqual([])
    expect(ids(await run('take-over', 'leader', 0, 10))).toEqual([1])
  })

  test('[D-06] the lock is taken once, renewed and released by its holder only, and ends by itself', async () => {
    expect(await run('lead', 'a', 10_000)).toBe(2)
    expect(await run('lead', 'b', 10_000)).toBeLessThan(-5_000)
    expect(await run('lead', 'a', 10_000)).toBe(1)
    expect(await run('resign', 'b')).toBe(0)
    expect(await run('lead', 'b', 10_000)).toBeLessThan(-5_000)
    expect(await redis.client.pttl(`${prefix}leader`)).toBeGreaterThan(5_000)
    expect(await run('resign', 'a')).toBe(1)
    expect(await run('lead', 'b', 10_000)).toBe(2)
  })

  test('a limit on what is kept here: the rest stays in PostgreSQL, and the takers are told that there is more', async () => {
    const rows = [1, 2, 3].flatMap((id) => [id, 2, 1, id, '', ''])
    expect(await run('offer', 2, ...rows)).toEqual([[], 1])
    expect(await run('take', 'me', 5)).toMatchObject([[{}, {}], 1])
    expect(await run('measure')).toEqual(['length', 2, 'pending', 2, 'lag', 0, 'delayed', 0, 'parked', 0])
  })
})
