/** What every answer has in common, whichever route it is. */
import { connect } from 'node:net'
import { expect } from 'vitest'
import { eventually } from '../../../../test/support/database.ts'
import { describeApi } from '../../../../test/support/http-description.ts'
import { keyOf, test } from '../../../../test/support/http-scene.ts'
import { serverWaits, withOnlooker } from '../../../../test/support/onlooker.ts'
import { startProxy } from '../../../../test/support/proxy.ts'

test('[O-03] a job that is enqueued over HTTP can be looked at', async ({ http }) => {
  const { post, get } = await http()
  const made = await post('/api/jobs', { kind: 'idle', payload: { n: 1 }, options: { owner: 'ann', delay: '1h' } })
  expect(made.statusCode).toBe(201)
  const { id } = made.json()
  expect(made.headers.location).toBe(`/api/jobs/${id}`)
  const shown = await get(`/api/jobs/${id}`)
  expect(shown.json()).toMatchObject({ id, kind: 'idle', owner: 'ann', state: 'scheduled', payload: { n: 1 } })
  expect((await get(`/api/jobs/${id}/why`)).json()).toMatchObject({ reason: 'not before' })
})

test('[O-03] whatever is refused is a problem with a stable code and says what to do', async ({ http }) => {
  const { app, get, post } = await http({ limits: { bodyBytesMax: 2_000 } })
  const json = { 'content-type': 'application/json' }
  const cases = [
    [get('/api/nowhere'), 404, 'UNKNOWN_ROUTE'],
    [get('/api/jobs/999'), 404, 'NOT_FOUND'],
    [get('/api/jobs/999/why'), 404, 'NOT_FOUND'],
    [get('/api/jobs/999/log'), 404, 'NOT_FOUND'],
    [get('/api/jobs/999/attempts'), 404, 'NOT_FOUND'],
    [post('/api/lanes/nowhere/pause', {}), 404, 'NOT_FOUND'],
    [app.inject({ method: 'PUT', url: '/api/jobs/1', headers: json, payload: '{}' }), 405, 'METHOD_NOT_ALLOWED'],
    [app.inject({ method: 'POST', url: '/api/jobs', headers: json, payload: '{"kind"' }), 400, 'INVALID_JSON'],
    [app.inject({ method: 'POST', url: '/api/jobs', headers: json, payload: '{"__proto__":{}}' }), 400, 'INVALID_JSON'],
    [
      app.inject({ method: 'POST', url: '/api/jobs', headers: { 'content-type': 'text/plain' }, payload: 'x' }),
      415,
      'JSON_REQUIRED',
    ],
    [post('/api/jobs', { kind: 'idle', payload: 'x'.repeat(3_000) }), 413, 'BODY_TOO_LARGE'],
    [post('/api/jobs', { kind: 'unknown' }), 422, 'UNKNOWN_KIND'],
    [post('/api/jobs', { kind: 7, more: 1 }), 422, 'INVALID_REQUEST'],
    [post('/api/jobs', { kind: 'idle', options: { owner: 'a\0b' } }), 422, 'INVALID_REQUEST'],
    [post('/api/jobs', { kind: 'idle', payload: { a: '\0' } }), 422, 'INVALID_REQUEST'],
    [get('/api/jobs/0'), 422, 'INVALID_REQUEST'],
    [get('/api/jobs/9007199254740993'), 422, 'INVALID_REQUEST'],
    [get(`/api/jobs?${'x'.repeat(9_000)}`), 414, 'URL_TOO_LONG'],
    [get('/api/jobs/%ff'), 400, 'MALFORMED'],
  ] as const
  for (const [asked, status, code] of cases) {
    const answer = await asked
    expect(answer.json(), code).toMatchObject({ status, code, type: `/docs#${code}` })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(answer.json().detail.length, code).toBeGreaterThan(10)
    expect(answer.json().requestId).toBe(answer.headers['request-id'])
  }
})

test('[O-03] a refusal names each field that is wrong', async ({ http }) => {
  const { post } = await http()
  const { errors } = (await post('/api/jobs', { kind: '', options: { priority: 5_000, delay: 'soon' } })).json()
  expect(errors.map(({ field }: { field: string }) => field)).toEqual([
    'body.kind',
    'body.options.delay',
    'body.options.priority',
  ])
  const told = (await post('/api/jobs', { kind: 7, options: { priority: 5_000, delay: 'soon', prio: 1 } })).json().errors
  expect(told).toEqual([
    { field: 'body.kind', problem: 'must be a text, and is a number' },
    { field: 'body.options.delay', problem: 'write 250ms, 2s, 10m, 1h, 7d or milliseconds' },
    { field: 'body.options.priority', problem: 'must be at most 1,000' },
    { field: 'body.options.prio', problem: 'is no field here; leave it out, or correct its name' },
  ])
})

test('[O-03] a wrong method is answered with the right ones', async ({ http }) => {
  const { app } = await http()
  const answer = await app.inject({ method: 'DELETE', url: '/api/jobs/7/why' })
  expect(answer.headers.allow).toBe('GET')
})

test('[O-03] every answer forbids browsers what they need not do', async ({ http }) => {
  const { get } = await http()
  for (const url of ['/livez', '/api/nowhere', '/docs', '/api/jobs/1'])
    expect((await get(url)).headers).toMatchObject({
      'content-security-policy': expect.stringContaining("script-src 'self'"),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
})

test('[O-03] an error that nobody expected is logged and not shown', async ({ http, client }) => {
  const { get, lines } = await http()
  await get('/api/jobs/1')
  await client.query('alter table sluice.job rename column payload to hidden')
  const answer = await get('/api/jobs/1')
  expect(answer.json()).toMatchObject({ status: 500, code: 'UNEXPECTED' })
  expect(answer.body).not.toMatch(/column|payload|at .*\.ts/)
  expect(lines.join('')).toContain(answer.json().requestId)
  expect(lines.join('')).toMatch(/column .*payload.* does not exist/)
})

test('[E-27] while the database is away the answer is 503 and says when to try again', async ({ http, database }) => {
  const proxy = await startProxy(database.url)
  const { get, post } = await http({ options: { database: proxy.through(database.url) } })
  expect((await post('/api/jobs', { kind: 'idle' })).statusCode).toBe(201)
  await proxy.stop()
  for (const answer of [await get('/api/jobs/1'), await post('/api/jobs', { kind: 'idle' })]) {
    expect(answer.json()).toMatchObject({ status: 503, code: 'DATABASE_UNREACHABLE' })
    expect(answer.headers['retry-after']).toBe('2')
    expect(answer.body).not.toMatch(/ENOENT|ECONN|sock/i)
  }
  expect((await get('/livez')).statusCode).toBe(200)
  const unknown = { authorization: `Bearer sluice_aaaaaaaaaa_${'x'.repeat(43)}` }
  expect((await get('/readyz', unknown)).json()).toEqual({ ready: false })
})

test('[O-11] a right that is taken from the role is named in the answer until it is let in again', async ({
  http,
  client,
  database,
}) => {
  const role = `role_of_${new URL(database.url).pathname.slice(1)}`
  await http().then(({ engine }) => engine.migrate())
  await client.query(`create role "${role}" login`)
  const admit = async (): Promise<void> =>
    void (await client.query(`select sluice.admit($1), sluice.admit($1, 'collector')`, [role]))
  await admit()
  const asRole = new URL(database.url)
  asRole.username = role
  const { get, engine } = await http({ options: { database: asRole.href } })
  const { id } = await engine.enqueue({ kind: 'idle', payload: {} })
  await client.query(`revoke select on sluice.job from "${role}"`)
  const answer = await get(`/api/jobs/${id}`)
  expect(answer.json()).toMatchObject({ status: 503, code: 'DATABASE_REFUSED', title: 'The role of this server lacks a right' })
  expect(answer.json().detail).toMatch(/permission denied for table job\. .*select sluice\.admit\('ROLE'\)/)
  await admit()
  expect((await get(`/api/jobs/${id}`)).statusCode).toBe(200)
  await engine.stop()
  await client.query(`drop owned by "${role}"`)
  await client.query(`drop role "${role}"`)
})

test('[E-27] a connection that breaks on the way costs one answer', async ({ http, client }) => {
  const { get, post } = await http()
  const { id } = (await post('/api/jobs', { kind: 'idle' })).json()
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await eventually(async () => (await get(`/api/jobs/${id}`)).statusCode === 200)
})

test('[O-03] what takes too long is answered with 504 and what to do', async ({ http, client }) => {
  // The one has time for an answer, the other for a look: which of the two limits ends it does not depend on who is faster.
  const [looking, answering] = [await http({ options: { lookTime: '40ms' } }), await http({ limits: { answerMsMax: 200 } })]
  const { id } = await looking.engine.enqueue({ kind: 'idle', payload: {} })
  await answering.engine.migrate()
  await client.query('begin')
  await client.query('lock table sluice.job in access exclusive mode')
  expect((await looking.get(`/api/jobs/${id}`)).json()).toMatchObject({ status: 504, code: 'LOOK_TOO_LONG' })
  expect((await answering.post('/api/jobs', { kind: 'idle' })).json()).toMatchObject({ status: 504, code: 'ANSWER_TOO_LATE' })
  await client.query('rollback')
})

test('[O-03] a client that sends too slowly is cut', async ({ http }) => {
  const { app } = await http({ limits: { headersMsMax: 200, requestMsMax: 300 } })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const heard = await new Promise<string>((resolve) => {
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: '))
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('close', () => resolve(text))
  })
  expect(heard).toMatch(/^HTTP\/1\.1 408 /)
  expect(heard).toContain('REQUEST_TOO_SLOW')
})

test('[O-09] without a key nothing is read where keys are required, and probes still answer', async ({ http }) => {
  const scene = await http({ requireKeys: true })
  expect((await scene.get('/api/jobs/1')).json()).toMatchObject({ status: 401, code: 'KEY_REQUIRED' })
  expect((await scene.get('/metrics')).statusCode).toBe(401)
  expect((await scene.get('/livez')).statusCode).toBe(200)
  expect((await scene.get('/readyz')).json()).toEqual({ ready: false })
  const reader = await keyOf(scene, 'read')
  expect((await scene.get('/readyz', reader)).json()).toEqual({ ready: false, problems: ['the engine is not started'] })
  expect((await scene.post('/api/jobs', { kind: 'idle' }, reader)).json()).toMatchObject({ status: 403, code: 'ROLE_TOO_LOW' })
  expect((await scene.post('/api/jobs', { kind: 'idle' }, await keyOf(scene, 'operate'))).statusCode).toBe(201)
})

test('[O-03] the description is whole: every reference leads somewhere, every route says what it does and how it can end', async ({
  http,
}) => {
  const { app } = await http()
  const { document, operations } = await describeApi(app)
  expect(document.openapi).toBe('3.1.0')
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  )
  expect(references.filter((name) => !(name in document.components.schemas))).toEqual([])
  const tags = document.tags.map(({ name }: { name: string }) => name)
  for (const { method, path, statuses } of operations) {
    const operation = document.paths[path][method.toLowerCase()]
    expect(operation.summary, path).toMatch(/^\w/)
    expect(tags).toEqual(expect.arrayContaining(operation.tags))
    expect(statuses.filter((status) => status < 300).length, path).toBeGreaterThan(0)
    for (const [status, response] of Object.entries<any>(operation.responses))
      if (Number(status) >= 400 && path !== '/readyz')
        expect(Object.keys(response.content), path).toEqual(['application/problem+json'])
  }
})

test('[O-03] the page that shows it loads nothing from elsewhere and holds no script of its own', async ({ http }) => {
  const { get } = await http()
  const page = await get('/docs')
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page.body).not.toMatch(/<script(?![^>]*src="\/docs\/docs\.js")|<style|style=|\son\w+=|https?:\/\//)
  for (const [, url = ''] of page.body.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g))
    expect((await get(url)).statusCode, url).toBe(200)
  expect((await get('/docs/docs.js')).body).not.toMatch(/innerHTML|insertAdjacentHTML|eval\(|https?:\/\//)
})

test('[E-23] whoever is being answered while the server leaves is answered, and does not hold it up', async ({
  http,
  client,
  database,
}) => {
  const { app } = await http()
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  await fetch(`${address}/api/schedules`)
  await client.query('begin; lock table sluice.schedule in access exclusive mode')
  const asked = fetch(`${address}/api/schedules`)
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.schedule'))
  const closed = app.close()
  await client.query('rollback')
  const answer = await asked
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  const startMs = performance.now()
  await closed
  expect(performance.now() - startMs).toBeLessThan(10_000)
})
