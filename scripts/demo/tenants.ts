/**
 * Three tenants, and the server whose budgets they have: so many calls in a window, told in the headers of each answer, after a while. It counts every
 * call that arrives; one past the budget is overdrawn, and there must be none, whatever becomes of the workers.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Tenant {
  readonly name: string
  /** Calls in a window. */
  readonly limit: number
  /** Jobs that want to call. */
  readonly calls: number
}

export interface Tariff {
  readonly calls: number
  readonly overdrawn: number
  readonly windows: number
}

export const tenants: readonly Tenant[] = [
  { name: 'acorn', limit: 20, calls: 70 },
  { name: 'birch', limit: 40, calls: 150 },
  { name: 'cedar', limit: 60, calls: 230 },
]
/** Left alone by the engine: a worker that is frozen while it calls may arrive in a window that it has no permit for. */
export const floor = 4
const windowMs = 2_000
const answerMs = [30, 120] as const
const headerMsOff = 60

export const laneOf = (tenant: string): string => `api:${tenant}:calls`

export class TariffServer {
  readonly #server: Server
  readonly #counts = new Map<string, number>()
  readonly #openedMs = performance.now()
  #calls = 0
  #overdrawn = 0
  url = ''

  constructor() {
    this.#server = createServer((request, response) => {
      const { remaining, resetMs, refused } = this.#count(request.url?.slice(1) ?? '')
      const [least, most] = answerMs
      setTimeout(
        () => {
          response.writeHead(refused ? 429 : 200, { 'x-remaining': remaining, 'x-reset-ms': Math.round(resetMs) })
          response.end()
        },
        least + Math.random() * (most - least),
      )
    })
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get tariff(): Tariff {
    return { calls: this.#calls, overdrawn: this.#overdrawn, windows: new Set(this.#counts.keys()).size }
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #count(tenant: string): { remaining: number; resetMs: number; refused: boolean } {
    const sinceMs = performance.now() - this.#openedMs
    const window = Math.floor(sinceMs / windowMs)
    const limit = tenants.find(({ name }) => name === tenant)?.limit ?? 0
    const count = (this.#counts.get(`${tenant} ${window}`) ?? 0) + 1
    this.#counts.set(`${tenant} ${window}`, count)
    this.#calls++
    if (count > limit) this.#overdrawn++
    const resetMs = Date.now() + (window + 1) * windowMs - sinceMs + headerMsOff * (2 * Math.random() - 1)
    return { remaining: Math.max(0, limit - count), resetMs, refused: count > limit }
  }
}
