/** Whoever waits gets the id whose turn it is, also when ids of several classes came just before. */
import { expect, test } from 'vitest'
import { eventually } from '../../../../../test/support/database.ts'
import { isMissing } from '../../../../../test/support/missing-servers.ts'
import { startRedis } from '../../../../../test/support/redis.ts'
import type { Database } from '../../postgres/database.ts'
import { systemClock } from '../../support/clock.ts'
import { Link } from './link.ts'
import { runScript } from './scripts.ts'
import { StreamSource } from './stream-source.ts'

test.skipIf(isMissing('redis-server'))(
  '[D-10] a read that finds several classes keeps the first in rank, and the rest keep their places',
  async () => {
    const redis = await startRedis()
    const prefix = 'test:{p}:'
    const nothing = (): void => {}
    const prepare = async (): Promise<void> => {
      for (const one of [0, 1, 2, 3, 4]) await redis.client.xgroup('CREATE', `${prefix}ready:${one}`, 'workers', '0', 'MKSTREAM')
    }
    const link = new Link({
      url: redis.url,
      clock: systemClock,
      prepare,
      onSwitched: nothing,
      onNews: nothing,
      onGroupGone: nothing,
      onOther: nothing,
    })
    await link.connect()
    await eventually(() => link.up)
    const source = new StreamSource({
      link,
      clock: systemClock,
      // Nothing is claimed here.
      database: {} as Database,
      consumer: () => 'me',
      prefix: () => prefix,
      prepare,
      ask: nothing,
    })
    const offered = [
      { id: 5, inClass: 3, rank: 500 },
      { id: 3, inClass: 2, rank: 300 },
      { id: 4, inClass: 2, rank: 400 },
      { id: 1, inClass: 0, rank: 100 },
      { id: 2, inClass: 1, rank: 200 },
    ]
    const rows = offered.flatMap(({ id, inClass, rank }) => [id, inClass, 1, rank, 'call', '', ''])
    await runScript(link.client, 'offer', prefix, [5_000, ...rows])
    const first = await source.wait('p')
    expect(first.map(({ id }) => id)).toEqual([1])
    expect((await source.take('p', 10, [])).map(({ id }) => id)).toEqual([2, 3, 4, 5])
    await link.stop()
    await redis.stop()
  },
)
