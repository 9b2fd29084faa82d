/** What GitHub does to those who ask: limits, heavy answers, lies about what is there. The collection ends as true as without. */
import { expect } from 'vitest'
import { small, test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'

test('[C-08] a budget that is used up holds the lane until its reset, and nothing is sent meanwhile', async ({ collecting }) => {
  const { sim, collect, difference } = await collecting({ sim: { graphqlLimit: 4, windowMs: 2_000 } })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference()).toEqual([])
  expect(sim.oracle.summary()).toMatchObject({ overBudget: 0, sentWhileLimited: 0 })
})

test.for(['primary limit', 'secondary limit', 'RATE_LIMIT', 'abuse'] as const)(
  '[C-08] an answer "%s" is waited out and burns no attempt',
  async (trouble, { collecting, client }) => {
    const { sim, collect, difference, engine, userId } = await collecting({ sim: { windowMs: 2_000 } })
    // One call at a time, of both lanes together: with more, some are on their way when the answer comes.
    await engine.owners.set(String(userId), { cap: 1 })
    sim.chaos.script({ match: { operation: 'Commits' }, trouble, times: 1, retryAfterSeconds: 1 })
    expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
    expect(await difference()).toEqual([])
    expect(sim.oracle.summary().sentWhileLimited).toBe(0)
    const { rows } = await client.query(`select max(attempt) as attempt from sluice.job_ledger where kind = 'github.commits'`)
    expect(rows).toEqual([{ attempt: 1 }])
  },
)

test('[C-07] answers that are too heavy are asked for in smaller pieces', async ({ collecting }) => {
  const { sim, collect, difference } = await collecting({ sim: { people: [{ ...small, repositories: 3, commits: 120 }] } })
  sim.chaos.script({ match: { path: 'graphql', pageAbove: 20 }, trouble: 'bad gateway' })
  sim.chaos.script({ match: { operation: 'Issues' }, trouble: 'RESOURCE_LIMITS_EXCEEDED', times: 2 })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference()).toEqual([])
})

test('[C-05] a page that died loses nothing: the next run reads it again', async ({ collecting }) => {
  const { sim, collect, difference, collector, userId } = await collecting()
  sim.chaos.script({ match: { operation: 'Issues' }, trouble: 'validation failed', times: 1 })
  sim.chaos.script({ match: { operation: 'Commits' }, trouble: 'validation failed', times: 1 })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 2 })
  expect(await collector.statistics.user(userId)).toBeDefined()
  expect((await difference()).length).toBeGreaterThan(0)
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference()).toEqual([])
})

test('[C-05] a run whose discovery died completes with what it has, and the next one begins anew', async ({ collecting }) => {
  const { sim, collect, difference } = await collecting()
  sim.chaos.script({ match: { operation: 'Repositories' }, trouble: 'validation failed', times: 1 })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 1 })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference()).toEqual([])
})

test('[C-08] a list that answers "not found" does not make a repository deleted', async ({ collecting }) => {
  const { sim, collect, difference } = await collecting({ parts: { strategy: 'rest' } })
  sim.chaos.script({ match: { path: '/pulls' }, trouble: 'not found', times: 2 })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  const untold = [
    'issue.closed_by_id',
    'repository.head',
    'pull_request.additions',
    'pull_request.deletions',
    'pull_request.changed_files',
  ]
  const left = await difference([...untold, 'pull_request.merged_by_id'])
  expect(left.filter((line) => !line.startsWith('pull_request'))).toEqual([])
  expect(sim.oracle.entries().filter(({ path }) => /^\/repositories\/\d+$/.test(path))).toHaveLength(2)
})

test('[C-04] the interval that GitHub asks for is kept: events are not asked for again at once', async ({
  collecting,
  client,
}) => {
  const { sim, collect } = await collecting()
  await collect()
  expect((await client.query('select count(*)::int as events from collector.event')).rows).toEqual([{ events: 20 }])
  const asked = () => sim.oracle.entries().filter(({ path }) => path.includes('/events')).length
  const before = asked()
  expect(before).toBeGreaterThan(0)
  await collect()
  expect(asked()).toBe(before)
})

test('[C-07] a commit whose statistics are too heavy even alone is stored without, and asked for by itself', async ({
  collecting,
}) => {
  const people = [{ ...small, repositories: 1, commits: 5, ownPullRequestsElsewhere: 0 }]
  const { sim, collect, difference } = await collecting({ sim: { people } })
  sim.chaos.script({ match: { operation: 'Commits' }, trouble: 'RESOURCE_LIMITS_EXCEEDED', times: 3 })
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(sim.oracle.entries().filter(({ path }) => path.includes('/commits/'))).toHaveLength(1)
  expect(await difference()).toEqual([])
})

test('[C-01] no table, no job and no log holds the token, whatever goes wrong', async ({ collecting, client }) => {
  const scene = await collecting({ sim: { people: [{ ...small, repositories: 2, commits: 10 }] } })
  const { sim, collector, userId, login } = scene
  sim.chaos.script({ match: { operation: 'Commits' }, trouble: 'not json', times: 1 })
  sim.chaos.script({ match: { operation: 'Issues' }, trouble: 'validation failed', times: 1 })
  await collector.request(userId)
  await eventually(async () => (await client.query(`select from sluice.attempt where outcome = 'retry'`)).rows.length > 0)
  await eventually(async () => (await client.query(`select from sluice.attempt where outcome = 'failed'`)).rows.length > 0)
  const tables = await client.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('sluice', 'collector')`,
  )
  expect(tables.rows.length).toBeGreaterThan(20)
  for (const { name } of tables.rows as { name: string }[])
    expect(
      (await client.query(`select from ${name} t where t::text like '%' || $1 || '%'`, [sim.tokenOf(login)])).rows,
      name,
    ).toEqual([])
})
