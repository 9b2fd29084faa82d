/**
 * Budgets that a server sets, under the worst it does: short windows, a reset it is vague about, slow answers that arrive out of order,
 * some that cost nothing, another consumer of the same account, and workers that are killed in mid-call or leave. The server is a process of
 * its own and counts what it had to refuse.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { call, laneKinds } from '../programs/lane-kinds.ts'
import { eventually } from '../support/database.ts'
import { endHolder, type Program, test } from '../support/processes.ts'

const limit = 120
/**
 * Long enough for what a kill may cost: the leader dies with the call that was to find out about a window. Somebody else takes office after a lease
 * (1 s), finds it dead, and there must be time left to spend the window.
 */
const windowMs = 6_000
const oracleSettings = { limit, windowMs, jitterMs: 1_000, delayMs: 120, cachedShare: 0.1 }
/**
 * What is left for others. In the shared account it covers what the other consumer spends in a window; in the other one only the few probes
 * that go out before the true end of a window because the server named an earlier one.
 */
const floors: Record<string, number> = { shared: 40, alone: 4 }
const otherEveryMs = 200
const sceneMs = 36_000

interface Report {
  readonly calls: Record<string, number>
  readonly refused: Record<string, number>
  readonly windows: Record<string, number[]>
}

test('[E-12] [E-13] however answers are delayed and workers die, no budget is overdrawn, and little of it is left unused', async ({
  client,
  engines,
  program,
}) => {
  const oracle = program('budget-oracle', oracleSettings)
  const url = String((await oracle.hears('url'))['url'])
  const lanes = Object.fromEntries(
    Object.entries(floors).map(([account, floor]) => [`api:${account}`, { budget: { floor, limit } }]),
  )
  const enqueuer = engines({ kinds: laneKinds, lanes })
  await enqueuer.migrate()
  const accounts = Object.keys(floors)
  for (const account of accounts)
    await enqueuer.enqueueMany(
      Array.from({ length: 2_000 }, () => call({ url: `${url}/${account}` }, { lane: `api:${account}`, attempts: 50 })),
    )

  let over = false
  const start = (): Program =>
    program('lane-worker', { lanes, lease: '1s', grace: '100ms', crashesMax: 100, pools: { light: { core: 8, max: 8 } } })
  const workers = Array.from({ length: 4 }, start)
  const others = otherConsumer(`${url}/shared`, () => over)
  await eventually(async () => (await client.query(`select from sluice.lane where remaining is not null`)).rowCount === 2, 60_000)

  for (const worker of workers) await worker.hears('worker')
  oracle.tell({ report: 'start' })
  const started = (await oracle.hears('report', 'start')) as unknown as Report

  for (const [afterMs, signal] of [
    [sceneMs * 0.3, 'SIGKILL'],
    [sceneMs * 0.2, 'SIGTERM'],
    [sceneMs * 0.2, 'SIGKILL'],
  ] as const) {
    await wait(afterMs)
    // In mid-call.
    await endHolder(client, workers, signal, 3)
    workers.push(start())
  }
  await wait(sceneMs * 0.3)
  over = true
  await others

  oracle.tell({ report: 'end' })
  const { calls, refused, windows } = (await oracle.hears('report', 'end')) as unknown as Report
  const since = (account: string) => (windows[`/${account}`] ?? []).slice((started.windows[`/${account}`] ?? []).length + 1)
  const unused = Object.fromEntries(accounts.map((account) => [account, unusedShare(since(account), limit - floors[account]!)]))
  console.log(`never overdrawn: ${JSON.stringify({ calls, refused, windows, unused })}`)
  expect(refused).toEqual({})
  // The scene was what it claims to be: budgets ran out in most windows, both sides called, jobs were lost with their processes.
  expect(calls['other']).toBeGreaterThan(50)
  expect((await client.query(`select from sluice.attempt where outcome = 'lost'`)).rowCount).toBeGreaterThan(2)
  expect((await client.query(`select from sluice.job where shelf is null and worker is null`)).rowCount).toBeGreaterThan(100)
  for (const share of Object.values(unused)) expect(share).toBeLessThan(0.1)
}, 240_000)

/** Of what could be spent above the floor, in windows that began when all workers were there; the last is not over. */
function unusedShare(whole: readonly number[], most: number): number {
  const left = whole.reduce((sum, used) => sum + Math.max(0, most - used), 0)
  return left / (most * whole.length)
}

async function otherConsumer(url: string, over: () => boolean): Promise<void> {
  while (!over()) {
    await fetch(url, { headers: { 'x-who': 'other' } }).then((answer) => answer.arrayBuffer())
    await wait(otherEveryMs)
  }
}
