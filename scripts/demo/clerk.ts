/**
 * The clerk: does what an operator does, over the HTTP API of whichever process answers. A process may die while it is asked; the next one is asked then, with
 * the same Idempotency-Key, so that it happens once.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Crew } from './crew.ts'

const tries = 20
const pauseMs = 300

export class Clerk {
  readonly #crew: Crew
  readonly #signal: AbortSignal

  constructor(crew: Crew, signal: AbortSignal) {
    this.#crew = crew
    this.#signal = signal
  }

  async register(login: string, token: string): Promise<number> {
    const { id } = (await this.#send('POST', '/api/users', { login, token })) as { id: number }
    return id
  }

  async rotate(user: number, token: string): Promise<void> {
    await this.#send('PUT', `/api/users/${user}/token`, { token })
  }

  async collect(user: number): Promise<void> {
    await this.#send('POST', `/api/users/${user}/collections`, {})
  }

  async #send(method: 'POST' | 'PUT', path: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
    for (let left = tries; ; left--) {
      try {
        const answer = await fetch(this.#crew.address + path, {
          method,
          headers,
          body: JSON.stringify(body),
          signal: this.#signal,
        })
        if (answer.ok) return await answer.json()
        const { code, detail } = (await answer.json()) as { code: string; detail: string }
        if (answer.status < 500 && code !== 'IDEMPOTENCY_UNDER_WAY') throw new Refused(`${method} ${path}: ${detail}`)
      } catch (error) {
        if (error instanceof Refused || this.#signal.aborted || left === 0) throw error
      }
      await delay(pauseMs, undefined, { signal: this.#signal })
    }
  }
}

class Refused extends Error {}
