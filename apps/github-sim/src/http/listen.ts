/**
 * Sockets: reads requests, writes what the front has decided, and does the mischief that only a socket can do, such as
 * breaking off in the middle of an answer.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Outgoing } from './front.ts'
import type { Incoming } from './incoming.ts'

const bodyBytesMax = 5_000_000

export interface Listening {
  readonly url: string
  stop(): Promise<void>
}

export async function listen(port: number, handle: (incoming: Incoming) => Promise<Outgoing>): Promise<Listening> {
  let origin = ''
  const server = createServer((request, response) => {
    serve(request, response, origin, handle).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: origin, stop: () => close(server) }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  handle: (incoming: Incoming) => Promise<Outgoing>,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = request
  const body = method === 'GET' || method === 'HEAD' ? '' : await readBody(request)
  const outgoing = await handle({ method, url, headers, body, address: request.socket.remoteAddress ?? '127.0.0.1', origin })
  await send(response, outgoing, method === 'HEAD')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bodyBytesMax) throw new Error('The request is too large.')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

async function send(response: ServerResponse, { status, headers, body, mischief }: Outgoing, bare: boolean): Promise<void> {
  if (mischief?.type === 'hang up') {
    response.destroy()
    return
  }
  if (mischief?.type === 'huge') return sendHuge(response, status, headers, mischief.bytes)
  const hasBody = status !== 304 && status !== 204
  response.writeHead(status, hasBody ? { ...headers, 'content-length': Buffer.byteLength(body) } : headers)
  if (mischief?.type === 'cut off') {
    response.write(body.slice(0, body.length / 2), () => response.destroy())
    return
  }
  // A string leaves together with the headers, in one packet.
  response.end(hasBody && !bare ? body : undefined)
}

/** One long string in a list: proper JSON, if anybody waits for its end. */
async function sendHuge(response: ServerResponse, status: number, headers: Outgoing['headers'], bytes: number): Promise<void> {
  response.writeHead(status, headers)
  await pipeline(Readable.from(hugeBody(bytes)), response)
}

function* hugeBody(bytes: number): Generator<Buffer> {
  const filler = Buffer.alloc(65_536, 'a')
  yield Buffer.from('["')
  for (let sent = 0; sent < bytes; sent += filler.length) yield filler
  yield Buffer.from('"]')
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
