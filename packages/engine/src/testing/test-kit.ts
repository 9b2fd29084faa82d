/**
 * A kit for testing handlers on a real database, without a worker process and without waiting.
 *
 * `drain` runs every ready job inline, one after the other, children included, through the same claim, executor and settle as in
 * production. `advance` turns the clock of the kit and of its database sessions together, so delayed jobs and retries fall due at once.
 */
import type pg from 'pg'
import { type Enqueued, enqueueRows } from '../job/enqueue.ts'
import { findJob, type Job } from '../job/job-store.ts'
import type { AnyKind } from '../job/kind.ts'
import { registerKinds, storeSettings } from '../job/kind-store.ts'
import { encodeRequest, type JobRequest } from '../job/request.ts'
import { Database } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { systemClock } from '../support/clock.ts'
import { type Duration, toMs } from '../support/duration.ts'
import { silentLog } from '../support/log.ts'
import { type Claim, claimJobs, lowestRank } from '../worker/claim.ts'
import { execute } from '../worker/executor.ts'
import { judge, type Verdict } from '../worker/judge.ts'
import { OwnProcesses } from '../worker/own-process.ts'
import { deregisterWorker, registerWorker } from '../worker/register.ts'
import { Settler } from '../worker/settler.ts'
import { StopSwitch } from '../worker/stop-switch.ts'

export interface TestKitOptions<Services = unknown> {
  readonly database: string
  readonly kinds: readonly AnyKind[]
  readonly services?: Services
}

/** What became of one attempt. */
export interface Ran {
  readonly id: number
  readonly kind: string
  readonly attempt: number
  readonly outcome: Verdict['outcome']
  readonly error: string | undefined
}

const leaseMs = 3_600_000
const drainMax = 10_000

export async function createTestKit<Services>(options: TestKitOptions<Services>): Promise<TestKit> {
  await migrate(options.database)
  const kit = new TestKit(options)
  await kit.open()
  return kit
}

export class TestKit {
  readonly #database: Database
  readonly #kinds: ReadonlyMap<string, AnyKind>
  readonly #services: unknown
  readonly #sessions = new Set<pg.ClientBase>()
  readonly #processes = new OwnProcesses()
  #offsetMs = 0
  #worker = 0
  #payloadBytesMax = 0

  constructor({ database, kinds, services }: TestKitOptions) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kindName, kind]))
    this.#services = services ?? {}
    this.#database = new Database({
      url: database,
      poolMax: 4,
      prepare: true,
      log: silentLog,
      onConnect: (client) => this.#join(client),
    })
  }

  async open(): Promise<void> {
    await registerKinds(this.#database, [...this.#kinds.values()])
    this.#payloadBytesMax = (await storeSettings(this.#database, {})).payloadBytesMax
    this.#worker = await registerWorker(this.#database, { pools: {}, kinds: [...this.#kinds.keys()], leaseMs })
  }

  async close(): Promise<void> {
    this.#processes.stop()
    await deregisterWorker(this.#database, this.#worker)
    await this.#database.close()
  }

  async enqueue(...requests: JobRequest[]): Promise<Enqueued[]> {
    return enqueueRows(
      this.#database,
      requests.map((request) => encodeRequest(request, { payloadBytesMax: this.#payloadBytesMax })),
      false,
    )
  }

  async find(id: number): Promise<Job | undefined> {
    return findJob(this.#database, id)
  }

  /** Turns the clock; what falls due on the way is ready afterwards. */
  async advance(by: Duration): Promise<void> {
    this.#offsetMs += toMs(by, 'advance')
    await Promise.all([...this.#sessions].map((client) => this.#turn(client)))
    await this.#promote()
  }

  /** Runs what is ready until nothing is. Answers what ran, in order. */
  async drain(): Promise<Ran[]> {
    const ran: Ran[] = []
    await this.#promote()
    const pools = new Set([...this.#kinds.values()].map((kind) => kind.pool))
    for (let found = true; found; ) {
      found = false
      for (const pool of pools) {
        const [claim] = await claimJobs(this.#database, {
          pool,
          worker: this.#worker,
          slots: 1,
          since: lowestRank,
          unknownKinds: await this.#strangers(),
        })
        if (!claim) continue
        found = true
        ran.push(await this.#run(claim))
        if (ran.length >= drainMax) throw new Error(`drain gave up after ${drainMax} jobs: does a job enqueue itself for ever?`)
      }
    }
    return ran
  }

  async #run(claim: Claim): Promise<Ran> {
    const kind = this.#kinds.get(claim.kind) as AnyKind
    let ended: Verdict = await execute(claim, kind, new StopSwitch(), {
      services: this.#services,
      clock: systemClock,
      random: () => 0,
      compute: (of, input, signal) => this.#processes.run(of, input, signal),
    })
    const settler = new Settler({
      database: this.#database,
      clock: systemClock,
      log: silentLog,
      probe: () => {},
      worker: () => this.#worker,
      payloadBytesMax: this.#payloadBytesMax,
      trusted: () => true,
      onWriteFailed: (_, error) => {
        ended = judge(claim, kind, { type: 'retry', error }, 0)
        return ended
      },
      onSettled: () => {},
    })
    settler.add(claim, ended)
    await settler.drained()
    const error = 'error' in ended ? ended.error?.message : undefined
    return { id: claim.id, kind: claim.kind, attempt: claim.attempt, outcome: ended.outcome, error }
  }

  async #promote(): Promise<void> {
    await this.#database.pool.query(`
      update sluice.job set state = 'ready', run_at = null
      where state = 'scheduled' and run_at <= sluice.now()`)
  }

  async #strangers(): Promise<string[]> {
    const { rows } = await this.#database.pool.query<{ kind: string }>(
      `select distinct kind from sluice.job where state = 'ready'`,
    )
    return rows.map(({ kind }) => kind).filter((kind) => !this.#kinds.has(kind))
  }

  async #join(client: pg.ClientBase): Promise<void> {
    this.#sessions.add(client)
    client.once('end', () => this.#sessions.delete(client))
    await this.#turn(client)
  }

  async #turn(client: pg.ClientBase): Promise<void> {
    await client.query(`select set_config('sluice.clock_offset', $1, false)`, [`${this.#offsetMs} milliseconds`])
  }
}
