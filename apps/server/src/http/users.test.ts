/** Users over HTTP, against a GitHub on this machine: tokens go in and never come out, and what is collected can be taken along. */
import { expect, vi } from 'vitest'
import { eventually } from '../../../../test/support/database.ts'
import { test as base, type Http } from '../../../../test/support/http-scene.ts'
import { type GithubSim, startGithub } from '../../../../test/support/user-samples.ts'

// A collection is a second or two of work, and many times that beside others.
vi.setConfig({ testTimeout: 120_000 })

const size = { repositories: 3, commits: 150, issues: 12, pullRequests: 8 }

const test = base.extend<{ sim: GithubSim; working: () => Promise<Http> }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  sim: async ({}, use) => {
    const sim = await startGithub(['acorn', 'birch'], size)
    await use(sim)
    await sim.stop()
  },
  /** An API whose process works as well. */
  working: async ({ http, sim }, use) => {
    await use(async () => {
      const scene = await http({ githubUrl: sim.url })
      await scene.engine.start()
      return scene
    })
  },
})

async function collected({ get, post }: Http, sim: GithubSim, login = 'acorn'): Promise<{ id: number; collection: any }> {
  const added = await post('/api/users', { login, token: sim.tokenOf(login) })
  expect(added.statusCode, added.body).toBe(201)
  const { id } = added.json()
  const collection = await eventually(async () => {
    const seen = await get(`/api/users/${id}/collection`)
    return seen.statusCode === 200 && seen.json().run.finishedAt !== null && seen.json()
  }, 60_000)
  return { id, collection }
}

test('[C-01] [C-14] a user is registered, collected and scored, and their token is nowhere to be seen', async ({
  working,
  sim,
  client,
}) => {
  const scene = await working()
  const { id, collection } = await collected(scene, sim)
  expect(collection).toMatchObject({
    run: { state: 'completed', trigger: 'signup', error: null },
    remainingJobs: 0,
    quota: [{ resource: 'core' }, { resource: 'graphql' }],
  })
  const addresses = ['', '/collection', '/statistics', '/statistics/history', '/export?what=statistics']
  const answers = await Promise.all([
    ...addresses.map((one) => scene.get(`/api/users/${id}${one}`)),
    ...['users', 'leaderboard', 'statistics', 'audit', 'jobs', 'published', 'runs', 'lanes'].map((one) =>
      scene.get(`/api/${one}`),
    ),
    scene.get('/metrics'),
  ])
  for (const { statusCode, body } of answers) {
    expect(statusCode, body).toBe(200)
    expect(body).not.toContain(sim.tokenOf('acorn'))
  }
  const { rows } = await client.query(
    `select (select string_agg(j::text, '') from sluice.job_ledger j) || (select string_agg(s::text, '') from sluice.secret s) as text`,
  )
  expect(`${rows[0].text}${scene.lines.join('')}`).not.toContain(sim.tokenOf('acorn'))
})

test('[C-01] a token of somebody else, of nobody or of no shape is refused, and not repeated', async ({ working, sim }) => {
  const { post, get } = await working()
  const other = await post('/api/users', { login: 'acorn', token: sim.tokenOf('birch') })
  expect([other.statusCode, other.json().code]).toEqual([422, 'TOKEN_OF_ANOTHER'])
  const unknown = await post('/api/users', { login: 'acorn', token: `ghp_${'z'.repeat(36)}` })
  expect([unknown.statusCode, unknown.json().code]).toEqual([422, 'TOKEN_REFUSED'])
  const wrong = await post('/api/users', { login: 'acorn', token: 'hunter2' })
  expect([wrong.statusCode, wrong.json().code]).toEqual([422, 'TOKEN_WRONG_SHAPE'])
  expect(wrong.body).not.toContain('hunter2')
  expect((await get('/api/users')).json().items).toEqual([])
  const audit = (await get('/api/audit')).json().items
  expect(audit[0]).toMatchObject({ action: 'users.add', target: 'acorn', outcome: 'failed' })
})

test('[C-02] a second request while a collection is under way is refused and names the run', async ({ working, sim }) => {
  const { post, engine, collector } = await working()
  const { id } = await collector.users.register({ login: 'acorn', token: sim.tokenOf('acorn'), collect: false })
  await engine.owners.pause(String(id))
  const run = await engine.runs.start({ kind: 'collector.collect', payload: { userId: id }, owner: String(id) })
  const again = await post(`/api/users/${id}/collections`)
  expect(again.statusCode).toBe(409)
  expect(again.json()).toMatchObject({ code: 'COLLECTION_ACTIVE', run: run.id, detail: expect.stringContaining(`run ${run.id}`) })
})

test('[C-15] what was collected is streamed as JSON Lines and CSV, with its type and a file name', async ({ working, sim }) => {
  const scene = await working()
  const { id } = await collected(scene, sim)
  const commits = Object.values(sim.world.groundTruth('acorn')?.commits ?? {}).flat()
  const jsonl = await scene.get(`/api/users/${id}/export?what=commits`)
  expect(jsonl.headers).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': 'attachment; filename="acorn-commits.jsonl"',
    'cache-control': 'no-store',
  })
  const shas = jsonl.body
    .trim()
    .split('\n')
    .map((line): string => JSON.parse(line).sha)
  expect(shas.toSorted()).toEqual(commits.map(({ sha }) => sha).toSorted())
  const csv = await scene.get(`/api/users/${id}/export?what=commits&format=csv`)
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(csv.body.trim().split(/\r?\n/)).toHaveLength(commits.length + 1)
})

test('[C-15] a reader who leaves in the middle of an export stops the reading', async ({ http, sim }) => {
  const { app, collector } = await http({ githubUrl: sim.url })
  const { id } = await collector.users.register({ login: 'acorn', token: sim.tokenOf('acorn'), collect: false })
  let ended = false
  collector.export = async function* () {
    try {
      for (;;) yield 'x'.repeat(65_536)
    } finally {
      ended = true
    }
  }
  const answer = await fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/api/users/${id}/export?what=commits`)
  await answer.body?.getReader().read()
  await answer.body?.cancel().catch(() => {})
  app.server.closeAllConnections()
  await eventually(() => ended)
})

test('[C-01] a token in the field of the login is refused at the door: no answer repeats it, and the audit log does not hold it', async ({
  working,
  sim,
  client,
}) => {
  const { post } = await working()
  const token = sim.tokenOf('acorn')
  const refused = await post('/api/users', { login: token, token })
  expect(refused.statusCode).toBe(422)
  expect(refused.body).toContain('looks like a token')
  expect(refused.body).not.toContain(token)
  const { rows } = await client.query('select row_to_json(a)::text as line from sluice.audit a')
  expect(rows.map(({ line }) => line).join('\n')).not.toContain(token)
})
