/**
 * Fixtures for tests of collections: `collecting` starts a GitHub of its own and a working engine with the collector's parts on the test's database, and
 * registers the people. `difference` compares what is stored with what that GitHub knows to be true.
 */
import { type Collector, type CollectorOptions, collectorParts } from '@sluice/collector'
import { type Engine, type EngineOptions, generateMasterKey, KeyRing, type Run } from '@sluice/engine'
import { type GithubSim, type SimOptions, startGithubSim } from '@sluice/github-sim'
import type pg from 'pg'
import { vi } from 'vitest'
import { test as base, eventually } from './database.ts'
import { findDifference } from './ground-truth.ts'

/** A collection takes a second or two, and many times that where others keep the processors busy; a test waits for up to five of them. */
vi.setConfig({ testTimeout: 180_000 })

export interface Collecting {
  readonly sim: GithubSim
  readonly engine: Engine
  readonly collector: Collector
  readonly userId: number
  readonly login: string
  /** Asks for a collection and waits until its run has ended. */
  collect(options?: { start?: Date }): Promise<Run>
  /** The newest run of the user, when it has ended. */
  ended(after?: number): Promise<Run>
  /** What is stored otherwise than it is in truth; empty when all is well. */
  difference(except?: readonly string[]): Promise<string[]>
  /** Units that were spent since the last call of this. */
  spent(): number
}

export interface CollectingOptions {
  readonly sim?: SimOptions
  readonly parts?: CollectorOptions
  readonly engine?: Partial<EngineOptions>
  readonly start?: boolean
}

export interface CollectingScene {
  collecting: (options?: CollectingOptions) => Promise<Collecting>
  /** Another GitHub with the same people, whom nobody has registered. */
  otherGithub: GithubSim
}

export const small: NonNullable<SimOptions['people']>[number] = {
  login: 'ada',
  repositories: 6,
  commits: 150,
  issues: 60,
  pullRequests: 40,
  ownPullRequestsElsewhere: 5,
  events: 20,
}

export const test = base.extend<CollectingScene>({
  collecting: async ({ engines, client }, use) => {
    const sims: GithubSim[] = []
    await use(async (options = {}) => {
      const sim = await startGithubSim({ people: [small], ...options.sim })
      sims.push(sim)
      return begin(sim, engines, client, options)
    })
    await Promise.all(sims.map((sim) => sim.stop()))
  },
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  otherGithub: async ({}, use) => {
    const sim = await startGithubSim({ people: [small] })
    await use(sim)
    await sim.stop()
  },
})

async function begin(
  sim: GithubSim,
  engines: (options?: Partial<EngineOptions>) => Engine,
  client: pg.Client,
  { parts: given = {}, engine: more = {}, start = true }: CollectingOptions,
): Promise<Collecting> {
  const parts = collectorParts({ daily: false, floor: 0, ...given, github: { baseUrl: sim.url, ...given.github } })
  const secrets = KeyRing.fromText(generateMasterKey())
  const { open, ...rest } = parts
  const engine = engines({ secrets, ...rest, ...more })
  const collector = open(engine)
  const { login } = small
  const user = await collector.users.register({ login, token: sim.tokenOf(login), collect: false })
  if (start) await engine.start()
  let units = 0
  const kind = 'collector.collect'
  const newest = async (): Promise<Run | undefined> => (await engine.runs.list({ kind, owner: String(user.id), limit: 1 }))[0]
  const ended = (after = 0): Promise<Run> =>
    eventually(async () => {
      const run = await newest()
      return run && run.id > after && ['completed', 'failed', 'canceled'].includes(run.state) ? run : undefined
    }, 60_000)
  return {
    sim,
    engine,
    collector,
    userId: user.id,
    login,
    ended,
    collect: async (wanted) => {
      const before = await newest()
      await collector.request(user.id, wanted)
      return ended(before?.id)
    },
    difference: (except = []) =>
      findDifference(client, sim, sim.world.accounts.get(user.id)?.login ?? login, user.id, { except }),
    spent: () => {
      const { units: all } = sim.oracle.summary()
      const since = all - units
      units = all
      return since
    },
  }
}
