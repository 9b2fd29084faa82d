/**
 * A server that knows accounts by their tokens, as GitHub's `/user`, `/users/LOGIN` and `/user/ID` do, and no more: for tests of what happens at the door.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface KnownAccount {
  readonly id: number
  readonly login: string
  readonly token: string
  readonly formerLogin?: string
}

export interface AccountServer {
  readonly url: string
  /** Paths that were asked for, in order. */
  readonly asked: string[]
  /** Answers this instead, until it is cleared. */
  trouble: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> } | undefined
  stop(): Promise<void>
}

export async function startAccountServer(accounts: readonly KnownAccount[]): Promise<AccountServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    if (made.trouble) return answer(response, made.trouble.status, made.trouble.body, made.trouble.headers)
    const own = accounts.find(({ token }) => request.headers.authorization === `Bearer ${token}`)
    if (!own) return answer(response, 401, { message: 'Bad credentials', status: '401' })
    const found = path === '/user' ? own : accounts.find(({ id, login }) => [`/users/${login}`, `/user/${id}`].includes(path))
    const former = accounts.find(({ formerLogin }) => path === `/users/${formerLogin}`)
    if (found) answer(response, 200, shown(found))
    else if (former) answer(response, 301, { message: 'Moved Permanently' }, { location: `${made.url}/user/${former.id}` })
    else answer(response, 404, { message: 'Not Found', status: '404' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const made: AccountServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    trouble: undefined,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return made
}

function shown({ id, login }: KnownAccount): object {
  return {
    id,
    login,
    node_id: `U_${id}`,
    name: `Name of ${login}`,
    followers: 3,
    created_at: '2020-01-01T00:00:00Z',
    type: 'User',
  }
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
