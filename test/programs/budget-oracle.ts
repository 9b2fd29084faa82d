/**
 * A server that knows the true budget of its accounts: so many calls in each window, and what comes beyond that is refused and counted.
 *
 * It behaves as badly as real ones do: what it says about the end of the window is off by up to `jitterMs` either way, answers take
 * differently long after their headers were made up, so they arrive out of order, and some calls are answered from a cache and cost nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTold, say, settings } from './channel.ts'

const { limit, windowMs, jitterMs, delayMs, cachedShare } = settings as unknown as Record<
  'limit' | 'windowMs' | 'jitterMs' | 'delayMs' | 'cachedShare',
  number
>

interface Account {
  endsAtMs: number
  used: number
  /** How many calls each window had, over and done. */
  readonly windows: number[]
}

const accounts = new Map<string, Account>()
const calls: Record<string, number> = {}
const refused: Record<string, number> = {}

function accountOf(name: string): Account {
  const nowMs = Date.now()
  const account = accounts.get(name) ?? { endsAtMs: nowMs + windowMs, used: 0, windows: [] }
  accounts.set(name, account)
  while (account.endsAtMs <= nowMs) {
    account.windows.push(account.used)
    account.used = 0
    account.endsAtMs += windowMs
  }
  return account
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const account = accountOf(request.url ?? '')
  const who = String(request.headers['x-who'])
  calls[who] = (calls[who] ?? 0) + 1
  const cached = Math.random() < cachedShare
  const over = !cached && account.used >= limit
  if (over) refused[who] = (refused[who] ?? 0) + 1
  else if (!cached) account.used++
  const headers = {
    'x-remaining': String(limit - account.used),
    'x-reset': String(Math.round(account.endsAtMs + (Math.random() * 2 - 1) * jitterMs)),
  }
  // A few come so late that their window is over by then.
  const takesMs = Math.random() * (Math.random() < 0.02 ? windowMs * 0.7 : delayMs)
  setTimeout(() => response.writeHead(over ? 429 : cached ? 304 : 200, headers).end(), takesMs)
}

const server = createServer(answer)
server.listen(0, '127.0.0.1', () => say({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
/** Windows that are over by now, and how they were used. */
onTold(({ report }) => {
  const windows = Object.fromEntries([...accounts.keys()].map((name) => [name, accountOf(name).windows]))
  say({ report, calls, refused, windows })
})
