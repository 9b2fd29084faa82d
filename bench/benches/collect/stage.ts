/**
 * A stage: a database, a simulator, workers, and a collector in the bench's own process that only asks. Every scenario has its own.
 *
 * When it is struck, the simulator says what went over budget or came while it had said to wait; the bench adds that up over all scenarios.
 */
import type { Collector, Strategy } from '@sluice/collector'
import { type Engine, generateMasterKey } from '@sluice/engine'
import type { OracleSummary } from '@sluice/github-sim'
import type { FreshPlace, Ground } from '../../ground.ts'
import { monotonicMs, pause } from '../../measure/clock.ts'
import { startChild } from '../../processes/start-child.ts'
import { startWorkerCommand } from '../../processes/worker-command.ts'
import { prove, proveSoundLedger } from '../../proof.ts'
import { type CollectInput, openCollector } from '../../roles/collect-github.ts'
import type { SimulateInput } from '../../roles/simulate-github.ts'
import { type Database, within } from '../../servers/postgres.ts'
import { type Simulator, startSimulator } from './simulator.ts'

export interface Worker {
  /** From here on it claims. */
  start(): Promise<void>
  stop(): Promise<{ pid: number; peakRssMb: number }>
  kill(): Promise<void>
}

export interface Person {
  readonly id: number
  readonly login: string
}

export interface StagePlan {
  readonly sim: SimulateInput
  readonly strategy: Strategy
  readonly slots?: number
  readonly floor?: number
  readonly cap?: number
  readonly leaseMs?: number
  readonly crashesMax?: number
}

export interface Stage {
  readonly databaseUrl: string
  readonly strategy: Strategy
  readonly sim: Simulator
  readonly engine: Engine
  readonly collector: Collector
  ask<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** A worker process that is ready to claim and does not yet. */
  hire(): Promise<Worker>
  /** The command that people start, on the Node that they have, with its defaults. It claims at once; `stop` answers what it held at most. */
  command(): Promise<{ stop(): Promise<number> }>
  /** So many that claim. */
  staff(workers: number): Promise<Worker[]>
  /** Over HTTP, as people do; nothing is collected yet. */
  register(login: string): Promise<Person>
  request(people: readonly Person[]): Promise<void>
  /** Until the newest run of each has ended; answers their states. */
  ended(people: readonly Person[], withinMs?: number): Promise<Map<number, string>>
  /** Request, wait, and prove that all have completed; answers seconds and units. */
  collect(people: readonly Person[], withinMs?: number): Promise<{ seconds: number; units: number }>
  strike(): Promise<OracleSummary & { seconds: number }>
}

const askEveryMs = 20
const templates = new WeakMap<Ground, Promise<Database>>()
const patienceMs = 480_000

export async function setStage(ground: Ground, plan: StagePlan): Promise<Stage> {
  const startedAtMs = monotonicMs()
  const [place, sim] = await Promise.all([preparedPlace(ground), startSimulator(plan.sim)])
  const { databaseUrl } = place
  const input: CollectInput = {
    databaseUrl,
    masterKey: generateMasterKey(),
    github: { baseUrl: sim.url, graphqlUrl: sim.graphqlUrl },
    slots: plan.slots ?? 8,
    floor: plan.floor ?? 100,
    cap: plan.cap ?? 10,
    leaseMs: plan.leaseMs ?? 10_000,
    crashesMax: plan.crashesMax ?? 3,
  }
  const { engine, collector } = openCollector(input)
  await engine.migrate()
  const tokens = new Map((await sim.accounts()).map(({ login, token }) => [login, token]))
  const staff = new Set<Worker>()
  const pids = new Set([process.pid, sim.pid])
  const ask = <Row extends object>(text: string, values: unknown[] = []) =>
    within(databaseUrl, async (client) => (await client.query<Row>(text, values)).rows)

  async function hire(): Promise<Worker> {
    const [ready, started] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const child = startChild('collectGithub', input, (word) => (word === 'ready' ? ready : started).resolve())
    await Promise.race([ready.promise, child.result])
    prove(!pids.has(child.pid), 'each worker is a process of its own')
    pids.add(child.pid)
    const worker: Worker = {
      async start() {
        child.tell('go')
        await Promise.race([started.promise, child.result])
      },
      async stop() {
        staff.delete(worker)
        child.tell('go')
        child.tell('stop')
        return child.result
      },
      async kill() {
        staff.delete(worker)
        await child.kill()
      },
    }
    staff.add(worker)
    return worker
  }

  async function ended(people: readonly Person[], withinMs = patienceMs): Promise<Map<number, string>> {
    const owners = people.map(({ id }) => String(id))
    const endAtMs = monotonicMs() + withinMs
    return within(databaseUrl, async (client) => {
      for (;;) {
        const askedAtMs = monotonicMs()
        const { rows } = await client.query<{ owner: string; state: string }>(
          'select distinct on (owner) owner, state from sluice.run where owner = any($1) order by owner, id desc',
          [owners],
        )
        const over = rows.filter(({ state }) => ['completed', 'failed', 'canceled'].includes(state))
        if (over.length === owners.length || monotonicMs() > endAtMs)
          return new Map(over.map(({ owner, state }) => [Number(owner), state]))
        // With ten thousand people the question takes long; it must not take part of what it measures.
        await pause(Math.max(askEveryMs, 20 * (monotonicMs() - askedAtMs)))
      }
    })
  }

  const command = (): Promise<{ stop(): Promise<number> }> =>
    startWorkerCommand({
      DATABASE_URL: databaseUrl,
      SLUICE_MASTER_KEY: input.masterKey,
      GITHUB_API_URL: sim.url,
      SLUICE_COLLECT_DAILY: 'off',
    })

  const stage: Stage = {
    databaseUrl,
    strategy: plan.strategy,
    sim,
    engine,
    collector,
    ask,
    hire,
    command,
    async staff(workers) {
      const hired = await Promise.all(Array.from({ length: workers }, hire))
      await Promise.all(hired.map((worker) => worker.start()))
      return hired
    },
    async register(login) {
      const token = tokens.get(login)
      if (token === undefined) throw new Error(`the simulator has no token of ${login}`)
      const { id } = await collector.users.register({ login, token, collect: false })
      await collector.strategies.switchUser(id, plan.strategy)
      return { id, login }
    },
    async request(people) {
      for (const { id } of people) await collector.request(id, { trigger: 'manual' })
    },
    ended,
    async collect(people, withinMs = patienceMs) {
      const before = await sim.oracle()
      const beganAtMs = monotonicMs()
      const [mark] = await ask<{ id: string }>('select coalesce(max(id), 0) as id from sluice.run')
      await stage.request(people)
      await within(databaseUrl, async (client) => {
        const begun = async () =>
          (await client.query('select from sluice.run where id > $1 and owner is not null', [mark?.id])).rowCount ?? 0
        const endAtMs = monotonicMs() + withinMs
        while ((await begun()) < people.length && monotonicMs() < endAtMs) await pause(askEveryMs)
      })
      const states = await ended(people, withinMs)
      const seconds = (monotonicMs() - beganAtMs) / 1000
      const completed = [...states.values()].filter((state) => state === 'completed').length
      if (completed < people.length) await tellWhatIsLeft(ask)
      prove(completed === people.length, `all ${people.length} collections completed (${completed})`)
      return { seconds, units: (await sim.oracle()).units - before.units }
    },
    async strike() {
      const summary = await sim.oracle()
      await Promise.all([...staff].map((worker) => worker.stop()))
      await engine.stop()
      await sim.stop()
      await proveSoundLedger(place.database)
      await place.drop()
      return { ...summary, seconds: (monotonicMs() - startedAtMs) / 1000 }
    },
  }
  return stage
}

/** A copy of a database that was brought up to date once. */
async function preparedPlace(ground: Ground): Promise<FreshPlace> {
  const template = templates.get(ground) ?? prepareTemplate(ground)
  templates.set(ground, template)
  return ground.freshPlace(await template)
}

async function prepareTemplate(ground: Ground): Promise<Database> {
  const { database, databaseUrl } = await ground.freshPlace()
  const { engine } = openCollector({
    databaseUrl,
    masterKey: generateMasterKey(),
    github: { baseUrl: 'http://127.0.0.1', graphqlUrl: 'http://127.0.0.1/graphql' },
    ...{ slots: 1, floor: 0, cap: 1, leaseMs: 10_000, crashesMax: 3 },
  })
  await engine.migrate()
  await engine.stop()
  return database
}

/** For whoever has to find out why a collection did not end. */
async function tellWhatIsLeft(ask: Stage['ask']): Promise<void> {
  const jobs = await ask(
    `select kind, lane, sluice.state_of(shelf, worker) as state, count(*)::int as jobs, max(attempt) as attempt, min(run_at) as due, min(error ->> 'message') as error
     from sluice.job group by 1, 2, 3 order by jobs desc limit 20`,
  )
  const lanes = await ask(
    'select key, remaining, reset_at, hold_until, paused, in_flight, shut, opens_at from sluice.lane limit 20',
  )
  for (const row of [...jobs, ...lanes]) console.error(`bench: left: ${JSON.stringify(row)}`)
}
