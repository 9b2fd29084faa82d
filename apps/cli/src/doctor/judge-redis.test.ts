/** What doctor says about Redis: not used, at work, or away. */
import { describe, expect, test } from 'vitest'
import { judgeRedis } from './findings.ts'

const pool = { pool: 'light', length: 5, pending: 2, lag: 3, delayed: 1, parked: 4, takenOver: 7 }
const said = { since: new Date(0), leads: false, processes: [], pools: [] }

describe('[O-06] Redis', () => {
  test('[O-06] without an address it is not used', () => {
    expect(judgeRedis(undefined)).toMatchObject({ state: 'ok', text: expect.stringContaining('not configured here') })
  })

  test('[O-06] at work it tells what it holds, by pool', () => {
    expect(judgeRedis({ ...said, by: 'redis', instead: undefined, pools: [pool] })).toMatchObject({
      state: 'ok',
      text: 'answers, and hands out the jobs of processes that were given its address\nlight: 5 in streams (3 waiting, 2 pending), 4 parked, 1 delayed, 7 taken over',
    })
  })

  test('[O-06] away it says why, and who works instead', () => {
    expect(judgeRedis({ ...said, by: 'postgres', instead: 'Redis is not there' })).toMatchObject({
      state: 'warn',
      text: 'Redis is not there; as long as it does not answer, PostgreSQL hands out the jobs',
      fix: expect.stringContaining('REDIS_URL'),
    })
  })

  test('[O-06] at work, it names the processes that do not reach it', () => {
    const lonely = { worker: 3, name: 'far away', by: 'postgres' as const, instead: 'Redis gives no answer', since: new Date(0) }
    expect(judgeRedis({ ...said, by: 'redis', instead: undefined, processes: [lonely], pools: [pool] })).toMatchObject({
      state: 'warn',
      text: expect.stringContaining('but not far away, since 1970-01-01T00:00:00.000Z: Redis gives no answer'),
    })
  })
})
