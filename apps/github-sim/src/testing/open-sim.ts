/**
 * A simulator for one test, and a plain way to ask it: no client of ours, so that nothing is judged by its own code. It is
 * stopped when the test ends.
 */
import { onTestFinished } from 'vitest'
import { type GithubSim, type SimOptions, startGithubSim } from '../start.ts'

export const ada = { login: 'ada', repositories: 4, commits: 260, issues: 70, pullRequests: 40, ownPullRequestsElsewhere: 12 }

export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
  readonly remaining: number
}

export interface AskOptions {
  /** A login's token; null asks without any. */
  readonly as?: string | null
  readonly token?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface OpenSim {
  readonly sim: GithubSim
  ask(path: string, options?: AskOptions): Promise<Told>
  admin(path: string, body?: unknown): Promise<Told>
}

export async function openSim(options: SimOptions = {}): Promise<OpenSim> {
  const sim = await startGithubSim({ people: [ada], start: new Date('2026-06-01T12:00:00Z'), ...options })
  onTestFinished(() => sim.stop())
  return {
    sim,
    ask: (path, { as = 'ada', token, method = 'GET', headers, body } = {}) => {
      const secret = token ?? (as === null ? undefined : sim.tokenOf(as))
      return tell(new URL(path, sim.url), {
        method,
        redirect: 'manual',
        headers: {
          'user-agent': 'sim-test',
          accept: 'application/vnd.github+json',
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    },
    admin: (path, body) =>
      tell(new URL(path, sim.adminUrl), body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  }
}

async function tell(url: URL, init: RequestInit): Promise<Told> {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : text,
    remaining: Number(response.headers.get('x-ratelimit-remaining')),
  }
}

/** Every page, along the next links exactly as given. */
export async function askAll(open: OpenSim, path: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const told: Told = await open.ask(next)
    if (told.status !== 200) throw new Error(`${next} answered ${told.status}`)
    rows.push(...(told.body as Record<string, unknown>[]))
    next = linkOf(told, 'next')
  }
  return rows
}

export function linkOf(told: Told, rel: string): string | undefined {
  return new RegExp(`<([^>]+)>; rel="${rel}"`).exec(told.headers.get('link') ?? '')?.[1]
}
