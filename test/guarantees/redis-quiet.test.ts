/**
 * What Redis dispatch does not do: ask again and again. A closed lane costs no claim however many jobs wait behind it, and an idle engine sends nothing but its
 * blocked reads and what keeps a leader in office.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { defineKind, type Engine, type Fact } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { test as base, eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

const watchMs = 6_000

const test = base.extend<{ redis: RedisServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.stop()
  },
})

/** Commands that clients sent meanwhile; what scripts call is told as well. */
async function commandsDuring(redis: RedisServer, act: () => Promise<unknown>): Promise<Record<string, number>> {
  await redis.client.config('RESETSTAT')
  await act()
  const text = await redis.client.info('commandstats')
  const counts = [...text.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(
    ([, name, calls]) => [String(name), Number(calls)] as const,
  )
  return Object.fromEntries(counts.filter(([name]) => !['info', 'config|resetstat', 'ping'].includes(name)))
}

describe.skipIf(isMissing('redis-server'))('quiet', () => {
  test('[D-03] a lane without permits causes no claim and no reschedule while it is closed, and goes on when it opens', async ({
    engines,
    redis,
    client,
  }) => {
    let calls = 0
    let claims = 0
    const resetAt = new Date(Date.now() + 3_600_000)
    const kind = defineKind('metered', {
      run: ({ report }) => {
        calls++
        report({ remaining: Math.max(0, 12 - calls), resetAt })
      },
    })
    const probe = async (at: string): Promise<void> => void (at === 'claim sent' && claims++)
    const { switches, observe } = countSwitches()
    const lanes = { api: { budget: { limit: 12, floor: 2 } } }
    const engine = engines({ kinds: [kind], probe, observe, redis: redis.url, lanes })
    await engine.start()
    await engine.enqueueMany(Array.from({ length: 2_000 }, () => kind({}, { lane: 'api' })))
    await eventually(() => calls === 10 && engine.status().running === 0)
    const seen = async () => ({ calls, claims, jobs: await snapshot(client) })
    const { before, after, commands } = await undisturbed(switches, async () => {
      await quiet(redis)
      const before = await seen()
      const commands = await commandsDuring(redis, () => wait(watchMs))
      return { before, commands, after: await seen() }
    })
    expect(after).toEqual(before)
    expect(commands).toEqual(idle(commands))
    // What comes new into a closed lane is taken in, and then it is quiet again.
    const claimed = await undisturbed(switches, async () => {
      const claimsBefore = claims
      await client.query(`select sluice.enqueue('metered', lane => 'api')`)
      await quiet(redis)
      return claims - claimsBefore
    })
    expect(claimed).toBe(0)
    await engine.lanes.sync('api', { remaining: 1_990, resetAt: new Date(resetAt.getTime() + 3_600_000) })
    await eventually(() => calls > 1_000)
  })

  test('[D-01] an idle engine sends nothing but blocked reads and renewals, and costs next to no processor time', async ({
    engines,
    redis,
  }) => {
    const kind = defineKind('note', { run: () => {} })
    const { switches, observe } = countSwitches()
    const engine: Engine = engines({ kinds: [kind], observe, redis: redis.url })
    await engine.start()
    await engine.enqueue(kind({}))
    const { commands, used } = await undisturbed(switches, async () => {
      await quiet(redis)
      const usedBefore = process.cpuUsage()
      const commands = await commandsDuring(redis, () => wait(watchMs))
      return { commands, used: process.cpuUsage(usedBefore) }
    })
    console.log(`idle on Redis for ${watchMs} ms: ${JSON.stringify({ commands, cpuMs: (used.user + used.system) / 1_000 })}`)
    expect(commands).toEqual(idle(commands))
    // Two pools: a blocked read each, ended every five seconds, and renewals three times a lease.
    expect(commands['xreadgroup']).toBeLessThanOrEqual(6)
    expect(commands['evalsha']).toBeLessThanOrEqual(8)
  })
})

/** How often an engine went over from one dispatcher to the other. */
function countSwitches(): { switches: () => number; observe: (fact: Fact) => void } {
  let count = 0
  const observe = (fact: Fact): void => {
    if (fact.type === 'dispatch.changed') count++
  }
  return { switches: () => count, observe }
}

/** What is seen while Redis was in use all the time: a process that stood still for as long as an answer may take thinks for a moment that it is gone. */
async function undisturbed<T>(switches: () => number, watch: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = switches()
    const seen = await watch()
    if (switches() === before) return seen
  }
}

/** Looks that were caused before follow one another at some distance: none has come for a while. */
async function quiet(redis: RedisServer): Promise<void> {
  await eventually(async () => !('xautoclaim' in (await commandsDuring(redis, () => wait(2_000)))), 60_000)
}

/** Blocked reads, and a renewal (a script of GET and PEXPIRE) now and then. */
function idle({ xreadgroup = 0, evalsha = 0 }: Record<string, number>): Record<string, number> {
  return {
    ...(xreadgroup > 0 ? { xreadgroup } : {}),
    ...(evalsha > 0 ? { evalsha, get: evalsha, pexpire: evalsha } : {}),
  }
}

async function snapshot(client: { query(text: string): Promise<{ rows: unknown[] }> }): Promise<unknown> {
  return (
    await client.query(
      `select count(*)::int as jobs, sum(fence)::text as fences, sum(attempt)::int as attempts, min(sluice.state_of(shelf, worker)::text) as state from sluice.job`,
    )
  ).rows
}
