import { createServer, type Server } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createGithub } from '../github.ts'
import { type Act, heardGraphql, heardRest, scriptedServer, token } from '../scene/scripted-server.ts'

const page = JSON.stringify([{ id: 1, title: 'ä'.repeat(100) }])

test('[G-02] a body shorter than its Content-Length is cut off, even when what came is whole JSON', async () => {
  const cut: Act = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('[]', () => response.destroy())
  }
  expect(await heardRest(cut)).toMatchObject({
    type: 'malformed',
    status: 200,
    cost: 1,
    message: 'status 200, the body is cut off',
  })
  expect(await heardGraphql(cut)).toMatchObject({ type: 'malformed' })
})

test('[G-02] a chunked body without its end is cut off', async () => {
  const cut: Act = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('[]', () => response.destroy())
  }
  expect(await heardRest(cut)).toMatchObject({ type: 'malformed', message: 'status 200, the body is cut off' })
})

test('[G-02] compressed bodies are read, and one that ends too early or is none is malformed', async () => {
  const encoded =
    (encoding: string, body: Buffer): Act =>
    (_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(body)
  expect(await heardRest(encoded('gzip', gzipSync(page)))).toMatchObject({ type: 'ok', data: JSON.parse(page) })
  expect(await heardRest(encoded('br', brotliCompressSync(page)))).toMatchObject({ type: 'ok', data: JSON.parse(page) })
  expect(await heardRest(encoded('gzip', gzipSync(page).subarray(0, 30)))).toMatchObject({ type: 'malformed' })
  expect(await heardRest(encoded('gzip', Buffer.from(page)))).toMatchObject({ type: 'malformed' })
})

test('[G-02] half an answer still says what its head says, but decides nothing that its body would decide', async () => {
  const half =
    (status: number, headers: Record<string, string> = {}): Act =>
    (_request, response) => {
      response.writeHead(status, { 'content-length': '1000', ...headers })
      response.write('{"message":', () => response.destroy())
    }
  expect(await heardRest(half(401))).toMatchObject({ type: 'unauthorized' })
  expect(await heardRest(half(500))).toMatchObject({ type: 'server trouble' })
  expect(await heardRest(half(403, { 'retry-after': '5' }))).toMatchObject({ type: 'secondary limit' })
  expect(await heardRest(half(403))).toMatchObject({ type: 'malformed' })
  expect(await heardRest(half(404))).toMatchObject({ type: 'malformed' })
  expect(await heardRest(half(410))).toMatchObject({ type: 'malformed' })
  expect(await heardRest(half(422))).toMatchObject({ type: 'malformed' })
})

test('[G-01] a body of 100 MB is left after 20, without being kept', async () => {
  let sent = 0
  const chunk = Buffer.alloc(100_000, '[')
  const huge: Act = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(100_000_000) })
    const more = (): void => {
      while (sent < 100_000_000 && !response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) {
          response.once('drain', more)
          return
        }
      }
    }
    more()
  }
  const before = process.memoryUsage()
  expect(await heardRest(huge)).toMatchObject({ type: 'malformed', message: 'status 200, the body is too large' })
  const after = process.memoryUsage()
  expect(sent).toBeGreaterThanOrEqual(20_000_000)
  expect(sent).toBeLessThan(60_000_000)
  expect(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(80_000_000)
})

test('[G-01] the limit counts what comes out of the decompression, to the byte', async () => {
  const bomb: Act = (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(25_000_000, ' ')))
  expect(await heardRest(bomb)).toMatchObject({ type: 'malformed', message: 'status 200, the body is too large' })
  const bytes = Buffer.byteLength(page)
  expect(await heardRest({ body: page }, {}, { bodyBytesMax: bytes })).toMatchObject({ type: 'ok' })
  expect(await heardRest({ body: page }, {}, { bodyBytesMax: bytes - 1 })).toMatchObject({ type: 'malformed' })
})

test('[G-01] a server that says nothing is left when the time is up', async () => {
  const answer = await heardRest(() => {}, {}, { timeoutMs: 50 })
  expect(answer).toMatchObject({
    type: 'server trouble',
    status: 0,
    budget: undefined,
    cost: 1,
    message: 'no answer within 50 ms',
  })
})

test('[G-01] the time is that of the whole answer: a body that drips for ever is left as well', async () => {
  const drip: Act = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 10)
    response.on('close', () => clearInterval(timer))
  }
  const options = { timeoutMs: 3_000 }
  const [rest, graphql] = await Promise.all([heardRest(drip, {}, options), heardGraphql(drip, {}, options)])
  expect(rest).toMatchObject({ type: 'server trouble', status: 200, message: 'status 200, the body timed out' })
  expect(graphql).toMatchObject({ type: 'server trouble', status: 200, message: 'status 200, the body timed out' })
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

test('[G-02] nobody listens: trouble that cost nothing', async () => {
  const server = createServer()
  const baseUrl = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  const answer = await createGithub({ baseUrl, now: () => 5 }).rest({ token, path: '/a' })
  expect(answer).toEqual({
    type: 'server trouble',
    message: 'the connection failed (ECONNREFUSED)',
    retryAfterMs: undefined,
    status: 0,
    budget: undefined,
    cost: 0,
    servedAt: new Date(5),
    pollIntervalMs: undefined,
  })
})

test('[G-02] a name that no one can have (a label has 63 characters at most, so nobody is asked): trouble that cost nothing', async () => {
  const answer = await createGithub({ baseUrl: `http://${'a'.repeat(64)}.invalid` }).rest({ token, path: '/a' })
  expect(answer).toMatchObject({ type: 'server trouble', status: 0, cost: 0 })
})

test.each([
  ['a reset', (socket: { resetAndDestroy(): void }) => socket.resetAndDestroy()],
  ['a hang-up', (socket: { end(): void }) => socket.end()],
  ['what is no HTTP', (socket: { end(text: string): void }) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
])('[G-02] %s instead of an answer is server trouble, and may have cost a unit', async (_what, act) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => act(socket as never))
  })
  onTestFinished(() => void server.close())
  const baseUrl = await listen(server)
  expect(await createGithub({ baseUrl }).rest({ token, path: '/a' })).toMatchObject({
    type: 'server trouble',
    status: 0,
    cost: 1,
  })
})

test('[G-01] the caller’s abort is thrown on with its own reason, before, during the wait and during the body', async () => {
  const reason = new Error('shutting down')
  await expect(heardRest({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const waiting = new AbortController()
  await expect(heardRest(() => waiting.abort(reason), { signal: waiting.signal })).rejects.toBe(reason)
  const reading = new AbortController()
  const act: Act = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('[', () => setImmediate(() => reading.abort(reason)))
  }
  await expect(heardGraphql(act, { signal: reading.signal })).rejects.toBe(reason)
})

test('[G-01] a signal that serves many calls keeps no listener of those that ended', async () => {
  const { signal } = new AbortController()
  let listeners = 0
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...args: any[]) => ((listeners += 1), addEventListener.apply(signal, args as never))
  signal.removeEventListener = (...args: any[]) => ((listeners -= 1), removeEventListener.apply(signal, args as never))
  const { url } = await scriptedServer({ body: [] })
  const github = createGithub({ baseUrl: url })
  for (let call = 0; call < 3; call += 1) expect(await github.rest({ token, path: '/a', signal })).toMatchObject({ type: 'ok' })
  expect(listeners).toBe(0)
})
