/**
 * What is read when somebody scrapes: how things stand in the database, by one bounded look (`sluice.measure`), and in this process.
 *
 * Counts end at `countedMax`, so a scrape costs the same with a million jobs as with ten thousand. Scrapes that come together share a look. When
 * the database does not answer in time the scrape is answered all the same, says so, and shows nothing that it does not know.
 */
import type { Engine } from '@sluice/engine'
import { Gauge, type Registry } from 'prom-client'
import sql from 'sql-template-tag'
import { BoundedLabel } from './bounded-label.ts'

export interface Measured {
  readonly jobs: readonly { readonly pool: string; readonly state: string; readonly jobs: number }[] | null
  readonly ages: readonly { readonly pool: string; readonly ready_ms: number; readonly running_ms: number }[] | null
  readonly retrying: Readonly<Record<string, number>> | null
  readonly lanes: Readonly<Record<string, number>> | null
  readonly runs: Readonly<Record<string, number>> | null
  readonly workers: number
  readonly leads: boolean
  readonly term: number
  readonly schedule_late_ms: number | null
  readonly oldest_snapshot_ms: number | null
  readonly dead_rows: number | null
  readonly table_bytes: number
}

export const countedMax = 10_000
const answerMsMax = 5_000
const poolsMax = 50
const laneReasons = ['paused', 'held', 'broken', 'spent', 'full']
const runStates = ['created', 'running', 'finalizing']

export class Gauges {
  readonly #gauges: ReturnType<typeof define>
  readonly #pools = new BoundedLabel(poolsMax)
  readonly #kinds: BoundedLabel
  #looking: Promise<Measured | undefined> | undefined

  constructor(registry: Registry, kinds: BoundedLabel) {
    this.#gauges = define(registry)
    this.#kinds = kinds
    this.#gauges.cap.set(countedMax)
  }

  async refresh(engine: Engine): Promise<void> {
    const { leads, ready, running, dispatch } = engine.status()
    this.#gauges.redis.set(Number(dispatch.by === 'redis'))
    this.#gauges.leading.set(Number(leads))
    this.#gauges.ready.set(Number(ready))
    this.#gauges.runningHere.set(running)
    this.#looking ??= look(engine).finally(() => {
      this.#looking = undefined
    })
    const measured = await inTime(this.#looking)
    this.#show(measured)
    const pools = new Set([...(measured?.jobs ?? []), ...(measured?.ages ?? [])].map(({ pool }) => pool))
    await this.#showDispatch(engine, [...pools].slice(0, poolsMax))
  }

  async #showDispatch(engine: Engine, pools: readonly string[]): Promise<void> {
    this.#gauges.ids.reset()
    if (engine.status().dispatch.by !== 'redis') return
    const held = await inTime(engine.dispatch(pools).catch(() => undefined))
    for (const { pool, lag, pending, parked, delayed } of held?.pools ?? [])
      for (const [state, ids] of Object.entries({ waiting: lag, pending, parked, delayed }))
        this.#gauges.ids.inc({ pool: this.#pools.of(pool), state }, ids)
  }

  #show(measured: Measured | undefined): void {
    const gauges = this.#gauges
    for (const gauge of [gauges.jobs, gauges.readyAge, gauges.runningAge, gauges.retrying, gauges.lanes, gauges.runs])
      gauge.reset()
    gauges.up.set(Number(measured !== undefined))
    if (!measured) {
      // What is not known is left out; reset would show zero.
      for (const gauge of Object.values(gauges.single)) gauge.remove()
      return
    }
    for (const { pool, state, jobs } of measured.jobs ?? []) gauges.jobs.inc({ pool: this.#pools.of(pool), state }, jobs)
    for (const { pool, ready_ms, running_ms } of measured.ages ?? []) {
      gauges.readyAge.set({ pool: this.#pools.of(pool) }, ready_ms / 1000)
      gauges.runningAge.set({ pool: this.#pools.of(pool) }, running_ms / 1000)
    }
    for (const [kind, jobs] of Object.entries(measured.retrying ?? {})) gauges.retrying.inc({ kind: this.#kinds.of(kind) }, jobs)
    for (const reason of laneReasons) gauges.lanes.set({ reason }, measured.lanes?.[reason] ?? 0)
    for (const state of runStates) gauges.runs.set({ state }, measured.runs?.[state] ?? 0)
    gauges.single.workers.set(measured.workers)
    gauges.single.leader.set(Number(measured.leads))
    gauges.single.term.set(measured.term)
    gauges.single.scheduleLate.set((measured.schedule_late_ms ?? 0) / 1000)
    gauges.single.snapshot.set((measured.oldest_snapshot_ms ?? 0) / 1000)
    gauges.single.dead.set(measured.dead_rows ?? 0)
    gauges.single.bytes.set(measured.table_bytes)
  }
}

async function look(engine: Engine): Promise<Measured | undefined> {
  try {
    const { rows } = await engine.query<{ measured: Measured }>(sql`select sluice.measure(${countedMax}) as measured`)
    return rows[0]?.measured
  } catch {
    return undefined
  }
}

async function inTime<T>(answer: Promise<T | undefined>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), answerMsMax)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

function define(registry: Registry) {
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  return {
    jobs: gauge('sluice_jobs', 'Live jobs, counted up to sluice_jobs_counted_max.', 'pool', 'state'),
    cap: gauge('sluice_jobs_counted_max', 'Where counting stops: a number that reaches it means at least so many.'),
    readyAge: gauge('sluice_oldest_ready_seconds', 'How long the oldest ready job has been waiting.', 'pool'),
    runningAge: gauge('sluice_oldest_running_seconds', 'How long the longest attempt under way has been running.', 'pool'),
    retrying: gauge('sluice_jobs_retrying', 'Jobs that failed and wait for their next attempt.', 'kind'),
    lanes: gauge('sluice_lanes_closed', 'Lanes whose jobs wait because the lane is closed, by why.', 'reason'),
    runs: gauge('sluice_runs_active', 'Runs under way.', 'state'),
    up: gauge('sluice_database_up', 'Whether PostgreSQL answered this scrape.'),
    redis: gauge('sluice_dispatch_by_redis', 'Whether Redis hands out the jobs of this process.'),
    ids: gauge(
      'sluice_dispatch_ids',
      'Ids that Redis holds: waiting in streams, pending at processes, parked in lanes, delayed.',
      'pool',
      'state',
    ),
    leading: gauge('sluice_leading', 'Whether this process leads.'),
    ready: gauge('sluice_ready', 'Whether this process is ready to work.'),
    runningHere: gauge('sluice_process_jobs_running', 'Jobs that run in this process.'),
    single: {
      workers: gauge('sluice_workers', 'Processes whose lease holds.'),
      leader: gauge('sluice_leader_active', 'Whether any process leads.'),
      term: gauge('sluice_leader_term', 'Number of the term; it rises with each change of hands.'),
      scheduleLate: gauge('sluice_schedule_late_seconds', 'By how much the schedule that should have fired first is late.'),
      snapshot: gauge('sluice_oldest_snapshot_seconds', 'Age of the oldest transaction that keeps dead rows from being removed.'),
      dead: gauge('sluice_job_table_dead_rows', 'Dead rows in the table of live jobs, as PostgreSQL estimates them.'),
      bytes: gauge('sluice_job_table_bytes', 'Size of the table of live jobs, without its indexes.'),
    },
  }
}
