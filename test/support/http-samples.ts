/**
 * For each route a request that it does, and where it has a reason of its own to refuse, one that it refuses. Each makes what it needs.
 */

import { type AnyKind, defineKind, defineRun, done, fail, once } from '@sluice/engine'
import type { GithubSim } from '@sluice/github-sim'
import { eventually } from './database.ts'
import type { Sample } from './http-sample.ts'
import { type Http, happened, idle, keyOf, walk } from './http-scene.ts'
import { People, userSamples } from './user-samples.ts'

const broken = defineKind('broken', { retry: once, run: () => fail(new Error('no such page')) }) as AnyKind
const stuck = defineKind('stuck', {
  run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(done()), { once: true })),
}) as AnyKind

const longWalk = defineRun('long', {
  plan: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(done()), { once: true })),
})

/** What the engine of these samples knows. It works, so that jobs fail and run for real. */
export const sampleOptions = {
  kinds: [idle, broken, stuck],
  runs: [walk, longWalk],
  events: [happened],
  pools: { light: { core: 20, max: 20 } },
}

/** Things that samples stand on. */
export class Props {
  readonly #http: Http
  readonly people: People
  #count = 0

  constructor(http: Http, sim: GithubSim) {
    this.#http = http
    this.people = new People(http, sim)
  }

  next(): number {
    this.#count += 1
    return this.#count
  }

  async job(kind: string, options: object = {}): Promise<number> {
    const { id } = await this.#http.engine.enqueue({ kind, payload: { n: this.next() }, options })
    return id
  }

  waiting(): Promise<number> {
    return this.job('idle', { delay: '1h' })
  }

  async failed(): Promise<number> {
    return this.#until(await this.job('broken'), 'failed')
  }

  async finished(): Promise<number> {
    return this.#until(await this.job('idle'), 'succeeded')
  }

  async run(owner = `owner-${this.next()}`): Promise<number> {
    return (await this.#http.engine.runs.start({ kind: 'walk', payload: {}, owner })).id
  }

  /** One that does not end by itself. */
  async longRun(owner = `owner-${this.next()}`): Promise<number> {
    return (await this.#http.engine.runs.start({ kind: 'long', payload: {}, owner })).id
  }

  async endedRun(): Promise<number> {
    const id = await this.run()
    await eventually(async () => (await this.#http.engine.runs.find(id))?.finishedAt ?? undefined)
    return id
  }

  async schedule(): Promise<string> {
    const name = `nightly-${this.next()}`
    await this.#http.engine.schedules.set(name, { cron: '5 0 * * *', job: { kind: 'idle', payload: {} } })
    return name
  }

  async lane(): Promise<string> {
    const name = `github:${this.next()}:core`
    await this.#http.engine.lanes.set(name, { cap: 2 })
    return name
  }

  async owner(): Promise<string> {
    const name = `ann-${this.next()}`
    await this.#http.engine.owners.set(name, { cap: 3 })
    return name
  }

  async event(): Promise<number> {
    return (await this.#http.engine.publish(happened({}))).id
  }

  async key(): Promise<string> {
    return (await this.#http.access.keys.create({ name: 'spare', role: 'read' })).id
  }

  async bearer(): Promise<string> {
    return (await keyOf(this.#http, 'read')).authorization.replace('Bearer ', '')
  }

  async #until(id: number, state: string): Promise<number> {
    await eventually(async () => (await this.#http.engine.find(id))?.state === state)
    return id
  }
}

type Make = (props: Props) => Promise<Sample>
const get =
  (url: string): Make =>
  async () => ({ method: 'GET', url })
const post =
  (url: string, body: unknown = {}): Make =>
  async () => ({ method: 'POST', url, body })
const at =
  <T extends string | number>(
    method: Sample['method'],
    make: (props: Props) => Promise<T>,
    url: (thing: string) => string,
    body?: unknown,
  ): Make =>
  async (props) => ({ method, url: url(encodeURIComponent(await make(props))), ...(body === undefined ? {} : { body }) })

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString()

/** By status and route. */
export const samples: Readonly<Record<string, Make>> = {
  '200 GET /livez': get('/livez'),
  '200 GET /readyz': get('/readyz'),
  '200 GET /metrics': get('/metrics'),

  '200 GET /api/jobs': get('/api/jobs?state=ready&state=failed&kind=idle&limit=5&payload=%7B%7D'),
  '201 POST /api/jobs': post('/api/jobs', { kind: 'idle', payload: { a: 1 }, options: { delay: '1h' } }),
  '200 POST /api/jobs': async (props) => {
    const key = `k${props.next()}`
    await props.job('idle', { key, delay: '1h' })
    return { method: 'POST', url: '/api/jobs', body: { kind: 'idle', options: { key } } }
  },
  '200 POST /api/jobs/many': post('/api/jobs/many', { jobs: [{ kind: 'idle' }, { kind: 'idle', payload: { n: 1 } }] }),
  '200 POST /api/jobs/bulk': post('/api/jobs/bulk', {
    action: 'cancel',
    filter: { kind: 'idle', state: 'scheduled' },
    dryRun: true,
  }),
  '200 GET /api/jobs/{id}': at(
    'GET',
    (props) => props.waiting(),
    (id) => `/api/jobs/${id}`,
  ),
  '404 GET /api/jobs/{id}': get('/api/jobs/999999'),
  '404 GET /api/jobs/{id}/attempts': get('/api/jobs/999999/attempts'),
  '404 GET /api/jobs/{id}/log': get('/api/jobs/999999/log'),
  '404 GET /api/jobs/{id}/why': get('/api/jobs/999999/why'),
  '200 GET /api/jobs/{id}/attempts': at(
    'GET',
    (props) => props.failed(),
    (id) => `/api/jobs/${id}/attempts`,
  ),
  '200 GET /api/jobs/{id}/log': at(
    'GET',
    (props) => props.failed(),
    (id) => `/api/jobs/${id}/log?after=0&limit=10`,
  ),
  '200 GET /api/jobs/{id}/why': at(
    'GET',
    (props) => props.waiting(),
    (id) => `/api/jobs/${id}/why`,
  ),
  '200 POST /api/jobs/{id}/retry': at(
    'POST',
    (props) => props.failed(),
    (id) => `/api/jobs/${id}/retry`,
    {},
  ),
  '404 POST /api/jobs/{id}/retry': post('/api/jobs/999999/retry'),
  '409 POST /api/jobs/{id}/retry': at(
    'POST',
    (props) => props.waiting(),
    (id) => `/api/jobs/${id}/retry`,
    {},
  ),
  '200 POST /api/jobs/{id}/cancel': at(
    'POST',
    (props) => props.waiting(),
    (id) => `/api/jobs/${id}/cancel`,
    { tree: true, reason: 'not wanted' },
  ),
  '404 POST /api/jobs/{id}/cancel': post('/api/jobs/999999/cancel'),
  '409 POST /api/jobs/{id}/cancel': at(
    'POST',
    (props) => props.finished(),
    (id) => `/api/jobs/${id}/cancel`,
    {},
  ),
  '200 POST /api/jobs/{id}/discard': at(
    'POST',
    (props) => props.failed(),
    (id) => `/api/jobs/${id}/discard`,
    {},
  ),
  '404 POST /api/jobs/{id}/discard': post('/api/jobs/999999/discard'),
  '409 POST /api/jobs/{id}/discard': at(
    'POST',
    (props) => props.waiting(),
    (id) => `/api/jobs/${id}/discard`,
    {},
  ),
  '200 GET /api/dead-letters': get('/api/dead-letters?limit=10'),

  '200 GET /api/runs': get('/api/runs?kind=walk&state=running&state=completed'),
  '201 POST /api/runs': async (props) => ({
    method: 'POST',
    url: '/api/runs',
    body: { kind: 'walk', owner: `o${props.next()}` },
  }),
  '409 POST /api/runs': async (props) => {
    const owner = `busy-${props.next()}`
    await props.longRun(owner)
    return { method: 'POST', url: '/api/runs', body: { kind: 'long', owner } }
  },
  '200 GET /api/runs/{id}': at(
    'GET',
    (props) => props.run(),
    (id) => `/api/runs/${id}`,
  ),
  '404 GET /api/runs/{id}': get('/api/runs/999999'),
  '200 GET /api/runs/{id}/tree': at(
    'GET',
    (props) => props.run(),
    (id) => `/api/runs/${id}/tree?limit=5`,
  ),
  '404 GET /api/runs/{id}/tree': get('/api/runs/999999/tree'),
  '200 GET /api/runs/{id}/progress': at(
    'GET',
    (props) => props.run(),
    (id) => `/api/runs/${id}/progress`,
  ),
  '404 GET /api/runs/{id}/progress': get('/api/runs/999999/progress'),
  '200 POST /api/runs/{id}/cancel': at(
    'POST',
    (props) => props.longRun(),
    (id) => `/api/runs/${id}/cancel`,
    { reason: 'enough' },
  ),
  '404 POST /api/runs/{id}/cancel': post('/api/runs/999999/cancel'),
  '409 POST /api/runs/{id}/cancel': at(
    'POST',
    (props) => props.endedRun(),
    (id) => `/api/runs/${id}/cancel`,
    {},
  ),
  '200 POST /api/runs/{id}/retry-failed': at(
    'POST',
    (props) => props.endedRun(),
    (id) => `/api/runs/${id}/retry-failed`,
    {},
  ),
  '404 POST /api/runs/{id}/retry-failed': post('/api/runs/999999/retry-failed'),

  '200 GET /api/lanes': get('/api/lanes?closed=false&limit=5'),
  '200 GET /api/lanes/{name}': at(
    'GET',
    (props) => props.lane(),
    (name) => `/api/lanes/${name}`,
  ),
  '404 GET /api/lanes/{name}': get('/api/lanes/nowhere'),
  '404 POST /api/lanes/{name}/pause': post('/api/lanes/nowhere/pause', {}),
  '200 PUT /api/lanes/{name}/limits': at(
    'PUT',
    (props) => props.lane(),
    (name) => `/api/lanes/${name}/limits`,
    { cap: null, weight: 2 },
  ),
  '200 POST /api/lanes/{name}/hold': async (props) => ({
    method: 'POST',
    url: `/api/lanes/${await props.lane()}/hold`,
    body: { until: tomorrow() },
  }),
  '200 POST /api/lanes/{name}/pause': at(
    'POST',
    (props) => props.lane(),
    (name) => `/api/lanes/${name}/pause`,
    { reason: 'token expired' },
  ),
  '200 POST /api/lanes/{name}/resume': at(
    'POST',
    (props) => props.lane(),
    (name) => `/api/lanes/${name}/resume`,
    {},
  ),
  '200 GET /api/owners': get('/api/owners'),
  '200 GET /api/owners/{name}': at(
    'GET',
    (props) => props.owner(),
    (name) => `/api/owners/${name}`,
  ),
  '404 GET /api/owners/{name}': get('/api/owners/nobody'),
  '200 POST /api/owners/{name}/pause': at(
    'POST',
    (props) => props.owner(),
    (name) => `/api/owners/${name}/pause`,
    {},
  ),
  '200 POST /api/owners/{name}/resume': at(
    'POST',
    (props) => props.owner(),
    (name) => `/api/owners/${name}/resume`,
    {},
  ),

  '200 GET /api/pools': get('/api/pools'),
  '200 POST /api/pools/{name}/pause': post('/api/pools/light/pause', { reason: 'a while' }),
  '404 POST /api/pools/{name}/pause': post('/api/pools/nowhere/pause'),
  '200 POST /api/pools/{name}/resume': post('/api/pools/light/resume'),
  '200 GET /api/kinds': get('/api/kinds'),
  '200 POST /api/kinds/{name}/pause': post('/api/kinds/stuck/pause', { reason: 'a while' }),
  '404 POST /api/kinds/{name}/pause': post('/api/kinds/nothing/pause'),
  '200 POST /api/kinds/{name}/resume': post('/api/kinds/stuck/resume'),
  '200 GET /api/workers': get('/api/workers'),
  '200 GET /api/leader': get('/api/leader'),

  '200 GET /api/schedules': get('/api/schedules'),
  '200 GET /api/schedules/{name}': at(
    'GET',
    (props) => props.schedule(),
    (name) => `/api/schedules/${name}?fires=3`,
  ),
  '404 GET /api/schedules/{name}': get('/api/schedules/never'),
  '200 PUT /api/schedules/{name}': async (props) => ({
    method: 'PUT',
    url: `/api/schedules/new-${props.next()}`,
    body: { cron: '*/5 * * * *', zone: 'Asia/Seoul', job: { kind: 'idle', payload: { a: 1 } }, overlap: 'forbid', jitter: '5s' },
  }),
  '200 DELETE /api/schedules/{name}': at(
    'DELETE',
    (props) => props.schedule(),
    (name) => `/api/schedules/${name}`,
  ),
  '404 DELETE /api/schedules/{name}': async () => ({ method: 'DELETE', url: '/api/schedules/never' }),
  '200 POST /api/schedules/{name}/pause': at(
    'POST',
    (props) => props.schedule(),
    (name) => `/api/schedules/${name}/pause`,
    { reason: 'holiday' },
  ),
  '404 POST /api/schedules/{name}/pause': post('/api/schedules/never/pause'),
  '200 POST /api/schedules/{name}/resume': at(
    'POST',
    (props) => props.schedule(),
    (name) => `/api/schedules/${name}/resume`,
    {},
  ),
  '404 POST /api/schedules/{name}/resume': post('/api/schedules/never/resume'),
  '200 POST /api/schedules/{name}/run': at(
    'POST',
    (props) => props.schedule(),
    (name) => `/api/schedules/${name}/run`,
    {},
  ),
  '404 POST /api/schedules/{name}/run': post('/api/schedules/never/run'),

  '200 GET /api/published': get('/api/published?type=happened&limit=2'),
  '201 POST /api/published': post('/api/published', { event: 'happened', payload: { a: 1 }, owner: 'ann' }),
  '200 GET /api/published/{id}': at(
    'GET',
    (props) => props.event(),
    (id) => `/api/published/${id}`,
  ),
  '404 GET /api/published/{id}': get('/api/published/999999'),
  '200 GET /api/overview': get('/api/overview'),
  ...userSamples,

  '200 GET /api/keys': get('/api/keys'),
  '201 POST /api/keys': post('/api/keys', { name: 'deploy', role: 'operate' }),
  '200 DELETE /api/keys/{name}': at(
    'DELETE',
    (props) => props.key(),
    (id) => `/api/keys/${id}`,
  ),
  '404 DELETE /api/keys/{name}': async () => ({ method: 'DELETE', url: '/api/keys/nokey' }),
  '200 GET /api/session': get('/api/session'),
  '200 POST /api/session': async (props) => ({ method: 'POST', url: '/api/session', body: { key: await props.bearer() } }),
  '200 DELETE /api/session': async () => ({ method: 'DELETE', url: '/api/session' }),
  '200 GET /api/audit': get('/api/audit?caller=local&limit=3'),
}
