/** What doctor says about Redis: not used, at work, or away. */
import { describe, expect, test } from 'vitest'
import { judgeRedis } from './findings.ts'

const pool = { pool: 'light', length: 5, pending: 2, lag: 3, delayed: 1, parked: 4 }

describe('[O-06] Redis', () => {
  test('[O-06] without an address it is not used', () => {
    expect(judgeRedis(undefined)).toMatchObject({ state: 'ok', text: expect.stringContaining('not configured here') })
  })

  test('[O-06] at work it tells what it holds, by pool', () => {
    expect(judgeRedis({ by: 'redis', instead: undefined, leads: false, pools: [pool] })).toMatchObject({
      state: 'ok',
      text: 'answers, and hands out the jobs of processes that were given its address\nlight: 3 waiting, 2 pending, 4 parked, 1 delayed',
    })
  })

  test('[O-06] away it says why, and who works instead', () => {
    expect(judgeRedis({ by: 'postgres', instead: 'Redis is not there', leads: false, pools: [] })).toMatchObject({
      state: 'warn',
      text: 'Redis is not there; as long as it does not answer, PostgreSQL hands out the jobs',
      fix: expect.stringContaining('REDIS_URL'),
    })
  })
})
