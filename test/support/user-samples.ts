/**
 * Samples of the routes about users: a GitHub with people enough for each to take a fresh one.
 */
import type { Collector, User } from '@sluice/collector'
import type { Engine } from '@sluice/engine'
import { type GithubSim, type PersonPlan, startGithubSim } from '@sluice/github-sim'
import type { Sample } from './http-sample.ts'

const peopleMax = 100

export type { GithubSim }

export function startEmptyGithub(): Promise<GithubSim> {
  const logins = Array.from({ length: peopleMax }, (_, n) => `person-${n + 1}`)
  return startGithub(logins, { repositories: 0, commits: 0, issues: 0, pullRequests: 0 })
}

/** Everybody has as much as everybody else. */
export function startGithub(logins: readonly string[], size: Omit<PersonPlan, 'login'>): Promise<GithubSim> {
  return startGithubSim({ people: logins.map((login) => ({ login, ...size })) })
}

interface Ground {
  readonly engine: Engine
  readonly collector: Collector
}

/** People that samples stand on. Nobody works for them: their owners are paused, so that a run which was started stays under way. */
export class People {
  readonly #ground: Ground
  readonly #sim: GithubSim
  #count = 0

  constructor(ground: Ground, sim: GithubSim) {
    this.#ground = ground
    this.#sim = sim
  }

  stranger(): { login: string; token: string } {
    this.#count += 1
    const login = `person-${this.#count}`
    return { login, token: this.#sim.tokenOf(login) }
  }

  async user(): Promise<User> {
    const user = await this.#ground.collector.users.register({ ...this.stranger(), collect: false })
    await this.#ground.engine.owners.pause(String(user.id), 'a sample')
    return user
  }

  async busyUser(kind = 'collector.collect'): Promise<User> {
    const user = await this.user()
    await this.#ground.engine.runs.start({ kind, payload: payloadOf(kind, user.id), owner: String(user.id) })
    return user
  }

  async scoredUser(): Promise<User> {
    const user = await this.user()
    await this.#ground.engine.transaction(async (tx) => {
      await this.#ground.collector.statistics.compute(tx, user.id, 1)
      await this.#ground.collector.statistics.computeGlobal(tx, 1)
    })
    return user
  }

  async comparedUser(): Promise<User> {
    const user = await this.user()
    await this.#ground.collector.shadows.start(user.id)
    return user
  }

  /** An account of a GitHub that this server does not ask. */
  async userElsewhere(): Promise<User> {
    const user = await this.user()
    await this.#ground.engine.transaction((tx) =>
      tx.query(`update collector.users set api_url = 'https://elsewhere.example' where id = $1`, [user.id]),
    )
    return user
  }

  tokenOf({ login }: User): string {
    return this.#sim.tokenOf(login)
  }
}

type Make = (props: { readonly people: People }) => Promise<Sample>

const of =
  (method: Sample['method'], kind: 'user' | 'busyUser' | 'scoredUser' | 'comparedUser', path: string, body?: unknown): Make =>
  async ({ people }) => {
    const { id } = await people[kind]()
    return { method, url: `/api/users/${id}${path}`, ...(body === undefined ? {} : { body }) }
  }
const nobody =
  (method: Sample['method'], path: string, body?: unknown): Make =>
  async () => ({ method, url: `/api/users/999999999${path}`, ...(body === undefined ? {} : { body }) })
const plain =
  (url: string): Make =>
  async () => ({ method: 'GET', url })

const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z', slice: 'day' }
const token = `ghp_${'a'.repeat(36)}`

/** By status and route. */
export const userSamples: Readonly<Record<string, Make>> = {
  '404 GET /api/statistics': plain('/api/statistics'),
  '200 GET /api/users': plain('/api/users?limit=5'),
  '201 POST /api/users': async ({ people }) => ({
    method: 'POST',
    url: '/api/users',
    body: { ...people.stranger(), collect: false },
  }),
  '409 POST /api/users': async ({ people }) => {
    const user = await people.user()
    return { method: 'POST', url: '/api/users', body: { login: user.login, token: people.tokenOf(user) } }
  },
  '200 GET /api/users/{id}': of('GET', 'user', ''),
  '404 GET /api/users/{id}': nobody('GET', ''),
  '200 PUT /api/users/{id}/token': async ({ people }) => {
    const user = await people.user()
    return { method: 'PUT', url: `/api/users/${user.id}/token`, body: { token: people.tokenOf(user) } }
  },
  '404 PUT /api/users/{id}/token': nobody('PUT', '/token', { token }),
  '409 PUT /api/users/{id}/token': async ({ people }) => {
    const user = await people.userElsewhere()
    return { method: 'PUT', url: `/api/users/${user.id}/token`, body: { token: people.tokenOf(user) } }
  },
  '200 DELETE /api/users/{id}': of('DELETE', 'busyUser', ''),
  '404 DELETE /api/users/{id}': nobody('DELETE', ''),

  '202 POST /api/users/{id}/collections': of('POST', 'user', '/collections', { start: range.from }),
  '404 POST /api/users/{id}/collections': nobody('POST', '/collections', {}),
  '409 POST /api/users/{id}/collections': of('POST', 'busyUser', '/collections', {}),
  '200 GET /api/users/{id}/collection': of('GET', 'busyUser', '/collection'),
  '404 GET /api/users/{id}/collection': of('GET', 'user', '/collection'),
  '200 POST /api/users/{id}/collection/cancel': of('POST', 'busyUser', '/collection/cancel', { reason: 'enough' }),
  '404 POST /api/users/{id}/collection/cancel': nobody('POST', '/collection/cancel', {}),
  '409 POST /api/users/{id}/collection/cancel': of('POST', 'user', '/collection/cancel', {}),
  '200 POST /api/users/{id}/collection/retry': of('POST', 'busyUser', '/collection/retry', {}),
  '404 POST /api/users/{id}/collection/retry': nobody('POST', '/collection/retry', {}),
  '202 POST /api/users/{id}/backfill': of('POST', 'user', '/backfill', range),
  '404 POST /api/users/{id}/backfill': nobody('POST', '/backfill', range),
  '409 POST /api/users/{id}/backfill': async ({ people }) => {
    const { id } = await people.busyUser('collector.backfill')
    return { method: 'POST', url: `/api/users/${id}/backfill`, body: range }
  },

  '202 POST /api/users/{id}/shadow': of('POST', 'user', '/shadow', { strategies: ['rest', 'graphql'], keep: true }),
  '404 POST /api/users/{id}/shadow': nobody('POST', '/shadow', {}),
  '409 POST /api/users/{id}/shadow': of('POST', 'comparedUser', '/shadow', {}),
  '200 GET /api/users/{id}/shadow': of('GET', 'comparedUser', '/shadow'),
  '404 GET /api/users/{id}/shadow': of('GET', 'user', '/shadow'),
  '200 PUT /api/strategy': async () => ({ method: 'PUT', url: '/api/strategy', body: { strategy: 'rest', reason: 'a sample' } }),
  '200 GET /api/strategy': plain('/api/strategy'),
  '200 PUT /api/users/{id}/strategy': of('PUT', 'user', '/strategy', { strategy: 'graphql' }),
  '404 PUT /api/users/{id}/strategy': nobody('PUT', '/strategy', { strategy: null }),

  '200 GET /api/users/{id}/statistics': of('GET', 'scoredUser', '/statistics'),
  '404 GET /api/users/{id}/statistics': of('GET', 'user', '/statistics'),
  '200 GET /api/users/{id}/statistics/history': of('GET', 'scoredUser', '/statistics/history?limit=3'),
  '404 GET /api/users/{id}/statistics/history': nobody('GET', '/statistics/history'),
  '200 GET /api/statistics': async ({ people }) => {
    await people.scoredUser()
    return { method: 'GET', url: '/api/statistics' }
  },
  '200 GET /api/statistics/history': plain('/api/statistics/history?limit=2'),
  '200 GET /api/leaderboard': plain('/api/leaderboard?by=impact&limit=3'),
  '200 GET /api/users/{id}/export': of('GET', 'user', '/export?what=commits&format=csv'),
  '404 GET /api/users/{id}/export': nobody('GET', '/export?what=issues'),
}

function payloadOf(kind: string, userId: number): object {
  return kind === 'collector.backfill' ? { userId, ...range } : { userId }
}
