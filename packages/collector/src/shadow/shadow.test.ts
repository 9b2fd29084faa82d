/** Two strategies side by side, against a simulated GitHub: the live data is as it was, and the report tells what differs. */
import type pg from 'pg'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { type Collecting, test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'
import { findDifference } from '../../../../test/support/ground-truth.ts'
import type { ShadowReport } from './report.ts'
import type { Shadow } from './shadow.ts'

const reported = ({ collector, userId }: Collecting): Promise<Shadow & { report: ShadowReport }> =>
  eventually(async () => {
    const shadow = await collector.shadows.newest(userId)
    return shadow?.report ? (shadow as Shadow & { report: ShadowReport }) : undefined
  }, 60_000)

const tables = ['repository', 'commit', 'issue', 'pull_request', 'event', 'cursor']
const liveData = async (client: pg.Client): Promise<string[]> => {
  const read = async (text: string) => JSON.stringify((await client.query(text)).rows)
  const live = "(select id from collector.collection where purpose = 'live')"
  return [
    ...(await inTurn(tables, (table) =>
      read(`select to_jsonb(t) as row from collector.${table} t where collection_id = ${live} order by 1`),
    )),
    ...(await inTurn(['users', 'user_statistics', 'collection'], (table) =>
      read(
        `select to_jsonb(t) as row from collector.${table} t where to_jsonb(t) ->> 'purpose' is distinct from 'shadow' order by 1`,
      ),
    )),
  ]
}

async function inTurn<T>(items: readonly T[], read: (item: T) => Promise<string>): Promise<string[]> {
  const found: string[] = []
  for (const item of items) found.push(await read(item))
  return found
}

test('[C-13] two strategies fill shadows of their own and are reported on; the live data is not touched, and the shadows go', async ({
  collecting,
  client,
}) => {
  const scene = await collecting()
  const { collector, collect, userId, sim, engine } = scene
  await collect()
  // A collection that is no part of a comparison leaves nothing to look at.
  expect((await engine.inspect.jobs({ kind: 'collector.end-shadow' })).items).toEqual([])
  const before = await liveData(client)
  sim.oracle.reset()
  const started = await collector.shadows.start(userId)
  expect(started).toMatchObject({ report: null, sides: [{ strategy: 'graphql' }, { strategy: 'rest' }] })
  const { report, sides } = await reported(scene)
  expect(await liveData(client)).toEqual(before)

  const [graphql, rest] = report.sides
  const truth = sim.world.groundTruth('ada')
  const commits = Object.values(truth?.commits ?? {}).flat().length
  for (const side of report.sides) {
    expect(side).toMatchObject({ state: 'completed', failed: 0, errorRate: 0, collection: null, rows: { commits } })
    expect(side.tookMs).toBeGreaterThan(0)
    expect(side.kinds.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(side.jobs)
  }
  const jobsOf = (side: typeof graphql, kind: string) => side?.kinds.find((one) => one.kind === kind)?.jobs ?? 0
  expect(jobsOf(graphql, 'github.commit-statistics')).toBe(0)
  expect(jobsOf(rest, 'github.commit-statistics')).toBe(commits)

  // Every unit that GitHub counted is in the report, by budget.
  const { byResource } = sim.oracle.summary()
  for (const resource of ['core', 'graphql'] as const) {
    const units = report.sides.map((side) => side.spent.find((one) => one.resource === resource)?.units ?? 0)
    expect(units[0] as number, resource).toBeGreaterThan(0)
    expect(
      units.reduce((sum, one) => sum + one, 0),
      resource,
    ).toBe(byResource[resource])
  }

  const live = await collector.statistics.user(userId)
  const { formula, commits: counted, score } = graphql?.statistics ?? {}
  expect({ formula, counted, score }).toEqual({ formula: live?.formula, counted: live?.commits, score: live?.score })
  // Lists of REST do not say who closed an issue.
  const issues = report.nouns.find(({ noun }) => noun === 'issues')
  expect(issues).toMatchObject({
    only: [{ count: 0 }, { count: 0 }],
    unlike: { fields: [{ field: 'closed_by_id' }] },
  })
  expect(issues?.unlike.examples.length).toBeGreaterThan(0)
  expect(report.nouns.find(({ noun }) => noun === 'commits')).toMatchObject({
    only: [{ count: 0 }, { count: 0 }],
    unlike: { count: 0 },
  })

  await eventually(async () => (await collector.collections.list(userId)).length === 1 || undefined)
  expect(sides).toHaveLength(2)
  expect(await engine.inspect.deadLetters()).toMatchObject({ items: [] })
})

test('[C-13] what one has and the other lacks is told with examples, and shadows are kept on request', async ({
  collecting,
  client,
}) => {
  const scene = await collecting()
  const { collector, userId, sim } = scene
  const hidden = [...sim.world.repos.values()].find((repo) => repo.ownerId === userId && repo.head !== null)?.id as number
  sim.chaos.script({ match: { path: `/repositories/${hidden}/commits` }, trouble: 'validation failed' })
  const registered = sim.oracle.summary().byResource['core'] ?? 0
  await collector.shadows.start(userId, { strategies: ['rest', 'graphql'], keep: true })
  const { report } = await reported(scene)
  const [rest, graphql] = report.sides
  expect(rest).toMatchObject({ strategy: 'rest', failed: 1 })
  expect(rest?.errorRate).toBeGreaterThan(0)
  // What a call that failed has cost is counted as well.
  const core = report.sides.flatMap(({ spent }) => spent).filter(({ resource }) => resource === 'core')
  expect(core.reduce((sum, { units }) => sum + units, 0)).toBe((sim.oracle.summary().byResource['core'] ?? 0) - registered)
  const missing = sim.world.groundTruth('ada')?.commits[hidden]?.length as number
  const only = report.nouns.find(({ noun }) => noun === 'commits')?.only
  expect(only).toMatchObject([
    { strategy: 'rest', count: 0, examples: [] },
    { strategy: 'graphql', count: missing },
  ])
  expect(only?.[1]?.examples.length).toBe(Math.min(5, missing))
  for (const example of only?.[1]?.examples ?? []) expect(example).toMatch(new RegExp(`^${hidden}/[0-9a-f]{40}$`))
  expect((await collector.collections.list(userId)).map(({ purpose }) => purpose)).toEqual(['live', 'shadow', 'shadow'])
  expect(
    await findDifference(client, sim, 'ada', userId, {
      collection: graphql?.collection as number,
      except: ['users.name', 'users.followers'],
    }),
  ).toEqual([])
})

test('[C-13] one comparison of a user at a time: a second is refused with the name of the first, and jobs wait behind the live ones', async ({
  collecting,
}) => {
  const scene = await collecting()
  const { collector, userId, engine, collect } = scene
  await engine.pause({ scope: 'kind', name: 'github.profile' }, 'held')
  const { id, sides } = await collector.shadows.start(userId)
  const runs = sides.map(({ run }) => run)
  await expect(collector.shadows.start(userId)).rejects.toMatchObject({
    code: 'SHADOW_ACTIVE',
    details: { user: userId, shadow: id, runs: runs.join(' and ') },
  })
  const waiting = await eventually(async () => {
    const { items } = await engine.inspect.jobs({ kind: 'github.profile' })
    return items.length === 2 ? items : undefined
  })
  for (const job of waiting) expect(job.priority).toBeLessThan(-400)
  await engine.resume({ scope: 'kind', name: 'github.profile' })
  await reported(scene)
  const all = await Promise.all(runs.map((run) => engine.inspect.jobs({ run }, { limit: 500 })))
  for (const job of all.flatMap(({ items }) => items)) expect(job.priority, job.kind).toBeLessThan(-400)
  await collect()
  const live = await engine.inspect.jobs({ kind: 'github.repositories' }, { limit: 1 })
  expect(live.items[0]?.priority).toBe(1)
  expect((await collector.shadows.start(userId)).id).toBeGreaterThan(id)
  await reported(scene)
})

test('[C-13] a run that is canceled ends its comparison as well, and the report says so', async ({ collecting }) => {
  const scene = await collecting()
  const { collector, userId, engine } = scene
  await engine.pause({ scope: 'kind', name: 'github.repositories' }, 'held')
  const { sides } = await collector.shadows.start(userId)
  for (const { run } of sides) expect(await engine.runs.cancel(run, 'enough')).toBe('canceled')
  const { report } = await reported(scene)
  expect(report.sides.map(({ state }) => state)).toEqual(['canceled', 'canceled'])
  await eventually(async () => (await collector.collections.list(userId)).length === 1 || undefined)
})

test('[C-13] a comparison of one strategy, without a token that works, or of a user that nobody knows, is refused', async ({
  collecting,
}) => {
  const { collector, userId, engine } = await collecting({ start: false })
  for (const strategies of [['rest'], ['rest', 'rest'], ['rest', 'soap' as never]] as const)
    await expect(collector.shadows.start(userId, { strategies })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await engine.query(sql`update collector.users set token_state = 'refused', token_refused_at = now()`)
  await expect(collector.shadows.start(userId)).rejects.toMatchObject({ code: 'TOKEN_REFUSED' })
  await expect(collector.shadows.start(1)).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
})
