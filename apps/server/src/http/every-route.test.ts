/** Every route by its own description: each status that it documents is hit at least once, and nothing is answered that it does not document. */
import { afterAll, expect, vi } from 'vitest'
import { describeApi, fill, nameOf, type Operation, operationOf } from '../../../../test/support/http-description.ts'
import type { Sample } from '../../../../test/support/http-sample.ts'
import { Props, sampleOptions, samples } from '../../../../test/support/http-samples.ts'
import { test as base, type Http, type HttpOptions, keyOf } from '../../../../test/support/http-scene.ts'
import { startProxy } from '../../../../test/support/proxy.ts'
import { type GithubSim, startEmptyGithub } from '../../../../test/support/user-samples.ts'

// A test asks every route, one after the other.
vi.setConfig({ testTimeout: 120_000 })

const wanted = new Set<string>()
const hits = new Set<string>()

interface Routes {
  sim: GithubSim
  routes: (
    options?: HttpOptions,
  ) => Promise<Http & { readonly operations: readonly Operation[]; ask: (sample: Sample) => Promise<number> }>
}

/** An app whose answers are compared with its description. */
const test = base.extend<Routes>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  sim: async ({}, use) => {
    const sim = await startEmptyGithub()
    await use(sim)
    await sim.stop()
  },
  routes: async ({ http, sim }, use) => {
    await use(async (options = {}) => {
      const scene = await http({ githubUrl: sim.url, ...options })
      const { operations } = await describeApi(scene.app)
      for (const operation of operations) for (const status of operation.statuses) wanted.add(`${status} ${nameOf(operation)}`)
      const ask = async ({ method, url, body, headers = {} }: Sample): Promise<number> => {
        const json = method === 'GET' ? {} : { 'content-type': 'application/json' }
        const payload = body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }
        const answer = await scene.app.inject({ method, url, headers: { ...json, ...headers }, ...payload })
        const operation = operationOf(operations, method, url)
        expect(operation?.statuses, `${answer.statusCode} ${method} ${url}: ${answer.body}`).toContain(answer.statusCode)
        if (operation) hits.add(`${answer.statusCode} ${nameOf(operation)}`)
        if (answer.statusCode >= 400 && operation?.path !== '/readyz')
          expect(answer.json(), url).toMatchObject({
            status: answer.statusCode,
            code: expect.stringMatching(/^[A-Z_]+$/),
            detail: expect.any(String),
          })
        return answer.statusCode
      }
      return { ...scene, operations, ask }
    })
  },
})

const place = (operation: Operation): string => fill(operation.path, operation.path.includes('{id}') ? 1 : 'some')
const has = (operation: Operation, status: number): boolean => operation.statuses.includes(status)

test('[O-03] every route does what it is there for, and refuses for its own reasons', async ({ routes, sim }) => {
  const scene = await routes({ options: sampleOptions })
  await scene.engine.start()
  const props = new Props(scene, sim)
  for (const [name, make] of Object.entries(samples)) {
    const sample = await make(props)
    expect(`${await scene.ask(sample)} ${name.slice(4)}`, JSON.stringify(sample)).toBe(name)
  }
})

test('[O-04] live updates do not end, so they are asked for over a real connection', async ({ routes }) => {
  const { app, engine } = await routes({ options: sampleOptions })
  await engine.start()
  const response = await fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/api/events`)
  hits.add(`${response.status} GET /api/events`)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  await response.body?.cancel()
})

test('[O-09] every route but the open ones refuses strangers', async ({ routes }) => {
  const { operations, ask } = await routes({ requireKeys: true })
  for (const operation of operations.filter((one) => has(one, 401))) {
    const body = operation.path === '/api/session' && operation.method === 'POST' ? { body: { key: 'sluice_wrong' } } : {}
    expect(await ask({ method: operation.method, url: place(operation), ...body }), nameOf(operation)).toBe(401)
  }
})

test('[O-09] every route refuses callers that another site sent, or whose role is too low', async ({ routes }) => {
  const scene = await routes({ requireKeys: true })
  const reader = await keyOf(scene, 'read')
  for (const operation of scene.operations.filter(({ role }) => role === 'operate' || role === 'admin'))
    expect(await scene.ask({ method: operation.method, url: place(operation), headers: reader }), nameOf(operation)).toBe(403)
  const open = await routes()
  const elsewhere = { host: 'evil.example', 'sec-fetch-site': 'cross-site' }
  for (const operation of open.operations.filter((one) => has(one, 403)))
    expect(await open.ask({ method: operation.method, url: place(operation), headers: elsewhere, body: '{"key":"x"}' })).toBe(403)
})

test('[O-09] every route refuses an address that tried too many wrong keys', async ({ routes }) => {
  const { operations, ask } = await routes({ requireKeys: true })
  const wrong = (n: number) => ({ authorization: `Bearer sluice_aaaaaaaaaa_${String(n).padStart(43, 'x')}` })
  for (let n = 0; n < 10; n++) await ask({ method: 'GET', url: '/api/jobs', headers: wrong(n) })
  for (const operation of operations.filter((one) => has(one, 429)))
    expect(
      await ask({ method: operation.method, url: place(operation), headers: wrong(99), body: '{"key":"sluice_wrong"}' }),
    ).toBe(429)
})

test('[O-03] every route that takes a body refuses what is no JSON, too large, or of another type', async ({ routes }) => {
  const scene = await routes({ limits: { bodyBytesMax: 1_000 } })
  const admin = await keyOf(scene, 'admin')
  for (const operation of scene.operations.filter(({ method }) => method !== 'GET')) {
    const { method } = operation
    const url = place(operation)
    expect(await scene.ask({ method, url, body: '{"a":' }), nameOf(operation)).toBe(400)
    expect(await scene.ask({ method, url, body: JSON.stringify('x'.repeat(2_000)) }), nameOf(operation)).toBe(413)
    expect(await scene.ask({ method, url, body: 'a=1', headers: { 'content-type': 'text/plain' } }), nameOf(operation)).toBe(415)
    expect(
      await scene.ask({ method, url, body: 'a=1', headers: { 'content-type': 'text/plain', ...admin } }),
      nameOf(operation),
    ).toBe(415)
  }
})

test('[O-03] every route that takes fields refuses those that are wrong', async ({ routes }) => {
  const { operations, ask } = await routes()
  for (const operation of operations.filter((one) => has(one, 422))) {
    const { method, path, parameters, body } = operation
    const url = place(operation)
    if (path.includes('{'))
      expect(await ask({ method, url: fill(path, path.includes('{id}') ? 'x' : 'a\0b') }), nameOf(operation)).toBe(422)
    if (parameters.some((one) => one.in === 'query'))
      expect(await ask({ method, url: `${url}?nonsense=1` }), nameOf(operation)).toBe(422)
    if (body) expect(await ask({ method, url, body: { nonsense: 1 } }), nameOf(operation)).toBe(422)
    if (parameters.some((one) => one.name === 'idempotency-key'))
      expect(await ask({ method, url, body: {}, headers: { 'idempotency-key': 'a b' } }), nameOf(operation)).toBe(422)
  }
})

test('[E-27] every route says 503 while the database is away', async ({ routes, database, sim }) => {
  const proxy = await startProxy(database.url)
  const scene = await routes({ options: { ...sampleOptions, database: proxy.through(database.url) } })
  const props = new Props(scene, sim)
  const asked = await Promise.all(
    Object.entries(samples)
      .filter(([name]) => name.startsWith('2') && !needsWork(name))
      .map(async ([, make]) => make(props)),
  )
  const reader = await keyOf(scene, 'read')
  await proxy.stop()
  for (const sample of asked) {
    const operation = operationOf(scene.operations, sample.method, sample.url)
    if (operation && has(operation, 503) && !alone.has(nameOf(operation)))
      expect(await scene.ask(sample), nameOf(operation)).toBe(503)
  }
  // Whoever brings a key is looked up, so that even a route which needs nothing else has to say so.
  for (const operation of scene.operations.filter((one) => has(one, 503) && one.role))
    expect(await scene.ask({ method: operation.method, url: place(operation), headers: reader }), nameOf(operation)).toBe(503)
})

test('[O-03] every route says 504 when it takes too long', async ({ routes, client, sim }) => {
  const limits = { answerMsMax: 400 }
  const options = { ...sampleOptions, lookTime: '100ms' } as const
  const [strict, open] = [await routes({ requireKeys: true, limits, options }), await routes({ limits, options })]
  // What they are asked about is made by somebody who has time for it.
  const patient = await routes({ options: sampleOptions })
  const key = await keyOf(patient, 'admin')
  const props = new Props(patient, sim)
  const reads = Object.entries(samples).filter(
    ([name]) => name.startsWith('200 GET') && !needsWork(name) && !alone.has(name.slice(4)),
  )
  const asked = await Promise.all(reads.map(([, make]) => make(props)))
  await client.query('begin')
  await client.query(`do $$ begin execute (select 'lock table ' || string_agg(oid::regclass::text, ', ') || ' in access exclusive mode'
    from pg_class where relnamespace in ('sluice'::regnamespace, 'collector'::regnamespace) and relkind in ('r', 'p') and relname not in ('migration', 'setting')); end $$`)
  const slow = strict.operations.filter((one) => has(one, 504))
  const statuses = await Promise.all([
    ...slow.map((operation) => {
      const body = operation.path === '/api/session' ? { body: { key: key.authorization.replace('Bearer ', '') } } : {}
      return strict.ask({ method: operation.method, url: place(operation), headers: key, ...body })
    }),
    ...asked.filter(({ url }) => !/^.(?:livez|readyz)/.test(url)).map(open.ask),
  ])
  expect(new Set(statuses)).toEqual(new Set([504]))
  await client.query('rollback')
})

test('[O-03] every route that keeps answers says 409 while the first request is under way', async ({ routes, client, sim }) => {
  const scene = await routes({ options: sampleOptions })
  await scene.engine.start()
  const props = new Props(scene, sim)
  const sent = Object.entries(samples).filter(([name]) => /^2\d\d POST/.test(name))
  const headers = { 'idempotency-key': 'taken' }
  for (const [name, make] of sent) {
    const operation = scene.operations.find((one) => nameOf(one) === name.slice(4))
    if (!operation?.parameters.some((one) => one.name === 'idempotency-key')) continue
    const sample = await make(props)
    await scene.ask({ ...sample, headers })
    await client.query('update sluice.idempotency set status = null')
    expect(await scene.ask({ ...sample, headers }), name).toBe(409)
    await client.query('delete from sluice.idempotency')
  }
})

/** Those that need no database once it is known who asks. */
const alone = new Set(['GET /api/session', 'DELETE /api/session', 'GET /metrics'])

/** Those whose props a worker has to make. */
const needsWork = (name: string): boolean => /retry|discard|attempts|log$/.test(name)

afterAll(() => {
  const missed = [...wanted].filter((one) => !hits.has(one))
  expect(missed, 'documented, and never hit').toEqual([])
})
