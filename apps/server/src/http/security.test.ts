/** Those who should not get in do not, and what matters is written down. */
import { connect } from 'node:net'
import { expect } from 'vitest'
import { hostile } from '../../../../test/support/http-arbitrary.ts'
import { type Description, describeApi, nameOf, type Operation, type Schema } from '../../../../test/support/http-description.ts'
import { type Http, keyOf, test } from '../../../../test/support/http-scene.ts'

const audit = async ({ access }: Http): Promise<object[]> => [...(await access.audit.list({ limit: 500 })).items]

test('[O-09] a wrong, an expired and a revoked key are refused, and written down', async ({ http, client }) => {
  const scene = await http({ requireKeys: true })
  const make = () => scene.access.keys.create({ name: 'mine', role: 'admin' })
  const [wrong, expired, revoked] = [await make(), await make(), await make()]
  await client.query(`update sluice.api_key set expires_at = sluice.now() - interval '1 second' where id = $1`, [expired.id])
  await scene.access.keys.revoke(revoked.id)
  const bearers = {
    KEY_INVALID: `${wrong.text.reveal().slice(0, -1)}~`,
    KEY_EXPIRED: expired.text.reveal(),
    KEY_REVOKED: revoked.text.reveal(),
  }
  for (const [code, key] of Object.entries(bearers)) {
    const answer = await scene.get('/api/jobs', { authorization: `Bearer ${key}` })
    expect(answer.json()).toMatchObject({ status: 401, code })
    expect(answer.body).not.toContain(key)
    expect(await audit(scene)).toContainEqual(
      expect.objectContaining({ action: 'key.check', outcome: 'refused', detail: expect.objectContaining({ code }) }),
    )
  }
  expect(scene.lines.join('')).not.toContain(wrong.text.reveal().slice(20))
})

test('[O-09] a key to read changes nothing, and the attempt is written down', async ({ http, client }) => {
  const scene = await http({ requireKeys: true })
  const reader = await keyOf(scene, 'read')
  const answer = await scene.post('/api/jobs', { kind: 'idle' }, reader)
  expect(answer.json()).toMatchObject({ status: 403, code: 'ROLE_TOO_LOW' })
  expect((await client.query('select from sluice.job')).rows).toHaveLength(0)
  expect(await audit(scene)).toContainEqual(
    expect.objectContaining({ action: 'jobs.enqueue', outcome: 'refused', callerName: 'a read key' }),
  )
  const operator = await keyOf(scene, 'operate')
  for (const url of ['/api/keys', '/api/audit']) expect((await scene.get(url, operator)).statusCode).toBe(403)
})

test.for([
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: 'http://localhost:80' },
])('[O-09] a page elsewhere (%o) cannot use the browser of somebody on this machine', async (headers, { http, client }) => {
  const scene = await http()
  expect((await scene.post('/api/jobs', { kind: 'idle' }, headers as Record<string, string>)).json()).toMatchObject({
    status: 403,
    code: 'CROSS_SITE',
  })
  expect((await client.query('select from sluice.job')).rows).toHaveLength(0)
  expect(await audit(scene)).toContainEqual(
    expect.objectContaining({
      action: 'jobs.enqueue',
      outcome: 'refused',
      detail: expect.objectContaining({ code: 'CROSS_SITE' }),
    }),
  )
})

test('[O-09] a page elsewhere cannot use the cookie of somebody who signed in either', async ({ http }) => {
  const scene = await http({ requireKeys: true })
  const { authorization } = await keyOf(scene, 'operate')
  const signedIn = await scene.post('/api/session', { key: authorization.replace('Bearer ', '') })
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
  expect(signedIn.headers['set-cookie']).toMatch(/HttpOnly; SameSite=Strict/)
  expect((await scene.get('/api/session', { cookie })).json()).toMatchObject({ kind: 'session', role: 'operate' })
  expect((await scene.post('/api/jobs', { kind: 'idle' }, { cookie })).statusCode).toBe(201)
  expect((await scene.post('/api/jobs', { kind: 'idle' }, { cookie, origin: 'https://evil.example' })).statusCode).toBe(403)
  const form = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  expect((await scene.app.inject({ method: 'POST', url: '/api/jobs', headers: form, payload: 'kind=idle' })).statusCode).toBe(415)
  const out = await scene.app.inject({
    method: 'DELETE',
    url: '/api/session',
    headers: { cookie, 'content-type': 'application/json' },
  })
  expect(out.headers['set-cookie']).toMatch(/Max-Age=0/)
  expect((await scene.get('/api/session', { cookie })).json()).toMatchObject({ status: 401, code: 'SESSION_ENDED' })
})

test('[O-03] SQL, HTML and ends of lines in every field of text are text, or are refused', { timeout: 120_000 }, async ({
  http,
  client,
}) => {
  const scene = await http()
  const description = await describeApi(scene.app)
  const tables = async () => (await client.query(`select count(*)::int as n from pg_tables where schemaname = 'sluice'`)).rows
  await scene.engine.migrate()
  const before = await tables()
  for (const operation of description.operations.filter(({ path }) => path !== '/api/events'))
    for (const bad of hostile)
      for (const sent of requestsWith(description, operation, bad)) {
        const answer = await scene.app.inject({ method: operation.method, ...sent })
        expect(
          [200, 201, 400, 401, 404, 405, 409, 413, 414, 422, 429],
          `${nameOf(operation)} ${JSON.stringify(sent)}: ${answer.body}`,
        ).toContain(answer.statusCode)
        expect(answer.headers['content-type'], nameOf(operation)).toMatch(/json|text\/plain/)
        expect(Object.keys(answer.headers)).not.toContain('evil')
        expect(String(answer.headers['set-cookie'] ?? '')).not.toContain('evil')
        expect(String(answer.headers['location'] ?? '')).not.toMatch(/[\r\n<]/)
      }
  expect(await tables()).toEqual(before)
})

test('[O-03] a header that was split in two is refused before anybody reads it', async ({ http }) => {
  const { app } = await http()
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const raw = (text: string): Promise<string> =>
    new Promise((resolve) => {
      let heard = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
      socket.on('data', (chunk) => {
        heard += String(chunk)
      })
      socket.on('close', () => resolve(heard))
    })
  const bad = [
    'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: b\rSet-Cookie: evil=1\r\n\r\n',
    'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A\0: b\r\n\r\n',
    'POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    `GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
  ]
  for (const text of bad) {
    const heard = await raw(text)
    expect(heard).toMatch(/^HTTP\/1\.1 (?:400|431) /)
    expect(heard).toContain('application/problem+json')
    expect(heard).not.toMatch(/^set-cookie/im)
  }
})

test('[O-03] a body above the limit is refused before it is read to its end', async ({ http }) => {
  const { post } = await http()
  expect((await post('/api/jobs', { kind: 'idle', payload: 'x'.repeat(1_100_000) })).json()).toMatchObject({
    status: 413,
    code: 'BODY_TOO_LARGE',
  })
  expect((await post('/api/jobs', { kind: 'idle', payload: 'x'.repeat(300_000) })).json()).toMatchObject({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  })
})

test('[O-03] JSON that is nested to break a parser is refused', async ({ http }) => {
  const { app } = await http()
  const deep = `{"kind":"idle","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const answer = await app.inject({
    method: 'POST',
    url: '/api/jobs',
    headers: { 'content-type': 'application/json' },
    payload: deep,
  })
  expect(answer.json()).toMatchObject({ status: 422, code: 'INVALID_REQUEST', errors: [{ field: 'body.payload' }] })
})

test('[O-09] every change is written down: who, what, to what, and how it ended', async ({ http }) => {
  const scene = await http({ requireKeys: true })
  const admin = await keyOf(scene, 'admin')
  const { id } = (await scene.post('/api/jobs', { kind: 'idle', options: { delay: '1h' } }, admin)).json()
  await scene.post(`/api/jobs/${id}/cancel`, {}, admin)
  await scene.post(`/api/jobs/${id}/cancel`, {}, admin)
  await scene.engine.lanes.set('github:1:core', { cap: 1 })
  await scene.post('/api/lanes/github%3A1%3Acore/pause', { reason: 'token' }, admin)
  const made = await scene.post('/api/keys', { name: 'new one', role: 'read' }, admin)
  const told = (await audit(scene))
    .toReversed()
    .map(({ action, target, outcome, callerName }: any) => [callerName, action, target, outcome])
  expect(told).toEqual([
    ['a admin key', 'jobs.enqueue', null, 'done'],
    ['a admin key', 'jobs.cancel', String(id), 'done'],
    ['a admin key', 'jobs.cancel', String(id), 'failed'],
    ['a admin key', 'lanes.pause', 'github:1:core', 'done'],
    ['a admin key', 'keys.create', 'new one', 'done'],
  ])
  expect(JSON.stringify(await audit(scene))).not.toContain(made.json().text.slice(20))
  expect(scene.lines.join('')).not.toContain(made.json().text.slice(20))
})

/** One request for each place that text can go, with something sensible everywhere else. */
function requestsWith(
  { resolve }: Description,
  operation: Operation,
  bad: string,
): { url: string; payload?: string; headers?: Record<string, string> }[] {
  const good = operation.path.replaceAll('{id}', '1').replaceAll('{name}', 'some')
  const body = operation.body && sensible(resolve, operation.body)
  const asJson = (value: unknown) => ({ payload: JSON.stringify(value), headers: { 'content-type': 'application/json' } })
  const rest = operation.method === 'GET' ? {} : asJson(body ?? {})
  const inPath = operation.path.includes('{')
    ? [{ url: operation.path.replaceAll(/\{\w+\}/g, encodeURIComponent(bad.toWellFormed()) || 'x'), ...rest }]
    : []
  const inQuery = operation.parameters
    .filter((one) => one.in === 'query')
    .map(({ name }) => ({ url: `${good}?${name}=${encodeURIComponent(bad.toWellFormed())}`, ...rest }))
  const inBody = body === undefined ? [] : placesIn(body).map((place) => ({ url: good, ...asJson(replaced(body, place, bad)) }))
  return [...inPath, ...inQuery, ...inBody]
}

function sensible(resolve: Description['resolve'], given: Schema): any {
  const schema = resolve(given)
  if (schema['enum']) return schema['enum'][0]
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined
  if (alternatives) return sensible(resolve, alternatives[0] as Schema)
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries<Schema>(schema['properties'] ?? {}).map(([name, field]) => [name, sensible(resolve, field)]),
    )
  if (schema.type === 'array') return [sensible(resolve, schema['items'] ?? {})]
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, Number(schema['minimum'] ?? 1))
  return schema.type === 'boolean' ? true : 'idle'
}

/** Paths to every text in a value. */
function placesIn(value: any, path: string[] = []): string[][] {
  if (typeof value === 'string') return [path]
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, one]) => placesIn(one, [...path, name]))
    : []
}

function replaced(value: any, [first, ...rest]: string[], bad: string): any {
  if (first === undefined) return bad
  return Array.isArray(value)
    ? value.map((one, at) => (String(at) === first ? replaced(one, rest, bad) : one))
    : { ...value, [first]: replaced(value[first], rest, bad) }
}
