/**
 * Scripted server: a real HTTP server on the loopback that answers what the test says, and remembers what it was asked. Each
 * request takes the next act; the last act is repeated. It is gone when the test is over.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Answer } from '../answer/answer.ts'
import { createGithub, type GraphqlCall, type RestCall } from '../github.ts'
import type { GithubOptions } from '../options.ts'
import type { Token } from '../token.ts'

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string | string[]>
  /** Anything but a string is sent as JSON. */
  readonly body?: unknown
}

/** A reply, or a hand on the raw connection for what no well-behaved server does. */
export type Act = Reply | ((request: IncomingMessage, response: ServerResponse, url: string) => void)

export interface Asking {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface ScriptedServer {
  readonly url: string
  readonly asked: Asking[]
}

export async function scriptedServer(...acts: Act[]): Promise<ScriptedServer> {
  const asked: Asking[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const act = acts[Math.min(asked.length, acts.length - 1)] ?? {}
      asked.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
      if (typeof act === 'function') act(request, response, url)
      else reply(response, act)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, asked }
}

function reply(response: ServerResponse, { status = 200, headers = {}, body = {} }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(status === 204 || status === 304 ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
}

export const token: Token = { reveal: () => `ghp_${'0'.repeat(36)}` }

/** What the client makes of one act, asked for over REST. */
export async function heardRest(act: Act, call: Partial<RestCall> = {}, options: GithubOptions = {}): Promise<Answer<unknown>> {
  const { url } = await scriptedServer(act)
  return createGithub({ baseUrl: url, ...options }).rest({ token, path: '/repositories/1', ...call })
}

/** What the client makes of one act, asked for over GraphQL. */
export async function heardGraphql(
  act: Act,
  call: Partial<GraphqlCall> = {},
  options: GithubOptions = {},
): Promise<Answer<unknown>> {
  const { url } = await scriptedServer(act)
  return createGithub({ baseUrl: url, ...options }).graphql({ token, query: '{ viewer { login } }', ...call })
}

export interface Left {
  readonly limit?: number
  readonly remaining: number
  readonly resource?: string
  /** In seconds since 1970. */
  readonly reset: number
}

export const limitHeaders = ({ limit = 5000, remaining, resource = 'core', reset }: Left): Record<string, string> => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-used': String(limit - remaining),
  'x-ratelimit-reset': String(reset),
  'x-ratelimit-resource': resource,
})
