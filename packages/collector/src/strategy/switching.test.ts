/** Switches of strategy under collections that run, against a simulated GitHub: drain, switch, watch. */
import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { type Collecting, test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'

const recordOf = async ({ engine }: Collecting, run: number) => {
  const { rows } = await engine.query(sql`select strategy, watched, failed, jobs from collector.run where run = ${run}`)
  return rows[0]
}

test('[C-18] a switch there and back over what people do meanwhile loses nothing: what is stored is what is true', async ({
  collecting,
}) => {
  const scene = await collecting()
  const { sim, collector, collect, difference, userId } = scene
  const strategies = ['graphql', 'rest', 'graphql', 'rest', 'graphql'] as const
  for (const strategy of strategies) {
    await collector.strategies.switchUser(userId, strategy)
    const repos = [...sim.world.repos.values()].filter((repo) => repo.ownerId === userId && repo.head !== null)
    const [one, other] = repos.map(({ id }) => id) as [number, number]
    sim.churn.push(one, 3)
    sim.churn.lateMerge(other, 2, 10)
    sim.churn.closeIssue(one)
    sim.churn.openIssue(other)
    sim.churn.mergePull(one)
    sim.churn.openPull(other)
    sim.churn.star(other)
    sim.clock.advance(3_600_000)
    const run = await collect()
    expect(run).toMatchObject({ state: 'completed', failed: 0 })
    expect(await recordOf(scene, run.id)).toMatchObject({ strategy })
  }
  expect(await difference()).toEqual([])
})

test('[C-18] what is under way ends as it began; the next run reads by the new strategy', async ({ collecting }) => {
  const scene = await collecting()
  const { engine, collector, userId, ended, collect, sim } = scene
  await engine.pause({ scope: 'kind', name: 'github.commits' }, 'held')
  await collector.request(userId)
  await eventually(async () => (await engine.inspect.jobs({ kind: 'github.commits' })).items[0])
  await collector.strategies.switchUser(userId, 'rest')
  sim.oracle.reset()
  await engine.resume({ scope: 'kind', name: 'github.commits' })
  const first = await ended()
  expect(await recordOf(scene, first.id)).toMatchObject({ strategy: 'graphql', watched: null })
  expect(sim.oracle.entries().filter(({ path }) => /\/commits\b/.test(path))).toEqual([])
  const second = await collect()
  expect(await recordOf(scene, second.id)).toMatchObject({ strategy: 'rest', watched: expect.any(Number) })
  expect(sim.oracle.entries().filter(({ path }) => /\/commits\b/.test(path)).length).toBeGreaterThan(0)
})

describe('[C-18] a switch is rolled back by itself', () => {
  const watch = { slack: '0ms', runs: 1 } as const

  test('[C-18] when more jobs fail than before: with an event, a reason, and the strategy before it for the next run', async ({
    collecting,
  }) => {
    const scene = await collecting({ parts: { watch } })
    const { collector, collect, userId, sim, engine } = scene
    await collect()
    await collector.strategies.switchUser(userId, 'rest')
    sim.chaos.script({ match: { path: '/issues' }, trouble: 'validation failed' })
    const bad = await collect()
    expect(bad.failed).toBeGreaterThan(0)
    expect(await collector.strategies.current(userId)).toMatchObject({
      strategy: 'graphql',
      chosen: null,
      lastSwitch: { madeBy: 'watch', from: 'rest', to: 'graphql', reason: expect.stringContaining('of its jobs failed') },
    })
    const { items } = await collector.strategies.history(userId)
    expect(items[1]).toMatchObject({ state: 'rolled back', reason: expect.stringContaining('of its jobs failed') })
    expect(await engine.events.list({ type: 'collector.strategy-rolled-back' })).toMatchObject([
      { owner: String(userId), payload: { userId, from: 'rest', to: 'graphql' } },
    ])
    sim.chaos.clear()
    const next = await collect()
    expect(await recordOf(scene, next.id)).toMatchObject({ strategy: 'graphql', watched: null })
  })

  test('[C-18] when its runs take more than twice as long', async ({ collecting }) => {
    const { collector, collect, userId, sim, engine } = await collecting({ parts: { watch } })
    await collect()
    await collect()
    // What they took is a matter of the machine; what the next one takes at least is not.
    await engine.query(sql`update collector.run set took_ms = 1000`)
    await collector.strategies.switchUser(userId, 'rest')
    sim.chaos.script({ match: { path: '/user/repos' }, trouble: 'latency', ms: 2_500 })
    expect(await collect()).toMatchObject({ failed: 0 })
    expect(await collector.strategies.current(userId)).toMatchObject({
      strategy: 'graphql',
      lastSwitch: { madeBy: 'watch', reason: expect.stringMatching(/its runs took \d+\.\d s instead of 1\.0 s/) },
    })
  })

  test('[C-18] for all, when several runs fail, and not by the first bad one', async ({ collecting }) => {
    const { collector, collect, userId, sim } = await collecting({ parts: { watch } })
    await collect()
    await collector.strategies.switchAll('rest')
    sim.chaos.script({ match: { path: '/issues' }, trouble: 'validation failed' })
    for (const still of ['rest', 'rest', 'graphql']) {
      await collect()
      expect(await collector.strategies.current()).toMatchObject({ strategy: still })
    }
    expect(await collector.users.find(userId)).toMatchObject({ strategy: null })
  })
})

test('[C-18] a switch that does well is kept after the runs that watch it', async ({ collecting }) => {
  // However slow the machine is: by REST there are many more calls.
  const { collector, collect, userId } = await collecting({ parts: { watch: { runs: 2, slack: '10m' } } })
  await collect()
  await collector.strategies.switchUser(userId, 'rest')
  for (const state of ['watching', 'kept']) {
    await collect()
    expect((await collector.strategies.current(userId)).lastSwitch).toMatchObject({ state, to: 'rest' })
  }
})
