/**
 * A kit for testing handlers on a real database, without a worker process and without waiting.
 *
 * `drain` runs every ready job inline, one after the other, children included, through the same claim, executor and settle as in
 * production. `advance` turns the clock of the kit and of its database sessions together, so delayed jobs and retries fall due at once, and
 * schedules fire on the way, each at its time.
 */
import type pg from 'pg'
import sql from 'sql-template-tag'
import type { Claim } from '../dispatch/claim.ts'
import { claimJobs, claimLaned, lowestRank } from '../dispatch/postgres/claim.ts'
import type { AnyEvent, EventRequest } from '../event/event.ts'
import { registerEvents } from '../event/event-store.ts'
import { Events } from '../event/events.ts'
import { type Enqueued, enqueueOn } from '../job/enqueue.ts'
import { type JobLine, type JobLogPage, listJobLog } from '../job/job-log.ts'
import { findJob, type Job } from '../job/job-store.ts'
import type { AnyKind } from '../job/kind.ts'
import { registerKinds, storeSettings } from '../job/kind-store.ts'
import { encodeRequest, type JobRequest } from '../job/request.ts'
import { Database } from '../postgres/database.ts'
import { type MigrationSet, migrate } from '../postgres/migrate.ts'
import { fireDue } from '../schedule/fire-due.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { registerSchedules, Schedules } from '../schedule/schedules.ts'
import { systemClock } from '../support/clock.ts'
import { type Duration, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'
import { silentLog } from '../support/log.ts'
import { checkOptions } from '../support/options.ts'
import { type Held, HeldClaims } from '../worker/held-claims.ts'
import { judgeFailedWrite, type Verdict } from '../worker/judge.ts'
import { deregisterWorker, registerWorker } from '../worker/register.ts'
import { Runner } from '../worker/runner.ts'
import { Settler } from '../worker/settler.ts'

export interface TestKitOptions<Services = unknown> {
  readonly database: string
  readonly kinds: readonly AnyKind[]
  readonly services?: Services
  readonly schedules?: readonly Schedule[]
  /** Events that nobody here subscribes to. */
  readonly events?: readonly AnyEvent[]
  /** Schemas of packages that stand on the engine. */
  readonly migrations?: readonly MigrationSet[]
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
const lanedLooksMax = 100
const drainMax = 10_000

export async function createTestKit<Services>(options: TestKitOptions<Services>): Promise<TestKit> {
  checkOptions('createTestKit', options, ['database', 'kinds', 'services', 'schedules', 'events', 'migrations'])
  if (!Array.isArray(options.kinds))
    throw new SluiceError('INVALID_OPTION', { field: 'createTestKit.kinds', problem: 'is no list; give [ … ]' })
  await migrate(options.database, options.migrations)
  const kit = new TestKit(options)
  await kit.open()
  return kit
}

export class TestKit {
  readonly schedules: Schedules
  readonly events: Events
  readonly #database: Database
  readonly #kinds: ReadonlyMap<string, AnyKind>
  readonly #scheduled: readonly Schedule[]
  readonly #defined: readonly AnyEvent[]
  readonly #sessions = new Set<pg.ClientBase>()
  readonly #held = new HeldClaims()
  readonly #runner: Runner
  #offsetMs = 0
  #worker = 0
  #payloadBytesMax = 0

  constructor({ database, kinds, services, schedules, events }: TestKitOptions) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kindName, kind]))
    this.#scheduled = schedules ?? []
    this.#defined = events ?? []
    this.#database = new Database({
      url: database,
      poolMax: 4,
      prepare: true,
      log: silentLog,
      onConnect: (client) => this.#join(client),
    })
    this.#runner = new Runner({
      database: this.#database,
      services: services ?? {},
      clock: systemClock,
      log: silentLog,
      random: () => 0,
      witness: { tell: () => {}, jobs: undefined },
      held: this.#held,
      priorityStepMs: () => 0,
    })
    const ready = async () => ({ on: this.#database, payloadBytesMax: this.#payloadBytesMax })
    this.schedules = new Schedules(ready, () => {})
    this.events = new Events(ready)
  }

  async open(): Promise<void> {
    await registerKinds(this.#database, [...this.#kinds.values()])
    await registerEvents(this.#database, this.#defined, [...this.#kinds.values()])
    this.#payloadBytesMax = (await storeSettings(this.#database, {})).payloadBytesMax
    await registerSchedules(this.#database, this.#scheduled, { payloadBytesMax: this.#payloadBytesMax })
    this.#worker = await registerWorker(this.#database, { name: 'test kit', pools: {}, kinds: [...this.#kinds.keys()], leaseMs })
  }

  async close(): Promise<void> {
    await this.#runner.stop()
    await this.#database.query(sql`update sluice.leader set worker = null, until = '-infinity' where worker = ${this.#worker}`)
    await deregisterWorker(this.#database, this.#worker)
    await this.#database.close()
  }

  async enqueue(request: JobRequest): Promise<Enqueued> {
    const [enqueued] = await this.enqueueMany([request])
    return enqueued as Enqueued
  }

  async enqueueMany(requests: readonly JobRequest[]): Promise<Enqueued[]> {
    return enqueueOn(
      this.#database.pool,
      requests.map((request) => encodeRequest(request, { payloadBytesMax: this.#payloadBytesMax })),
      false,
    )
  }

  async publish(request: EventRequest): Promise<{ id: number }> {
    return this.events.publish(request)
  }

  async find(id: number): Promise<Job | undefined> {
    return findJob(this.#database, id)
  }

  /** What its handlers logged. */
  async jobLog(id: number, page?: JobLogPage): Promise<JobLine[]> {
    return listJobLog(this.#database, id, page)
  }

  /** Turns the clock; what falls due on the way is ready afterwards. Schedules fire each at its time. */
  async advance(by: Duration): Promise<void> {
    const targetMs = this.#offsetMs + toMs(by, 'advance')
    for (let fireMs = await this.#nextFire(targetMs); fireMs !== undefined; fireMs = await this.#nextFire(targetMs)) {
      await this.#turnTo(Math.max(this.#offsetMs, fireMs))
      await this.#fire()
    }
    await this.#turnTo(targetMs)
    await this.#promote()
  }

  /** Runs what is ready until nothing is. Answers what ran, in order. Gives up after `max` jobs: one may enqueue itself for ever. */
  async drain({ max = drainMax }: { max?: number } = {}): Promise<Ran[]> {
    const ran: Ran[] = []
    await this.#promote()
    for (let found = true; found; ) {
      found = false
      const { pools, strangers } = await this.#lookAround()
      for (const pool of pools) {
        const claim = await this.#claimOne(pool, strangers)
        if (!claim) continue
        if (ran.length >= max) throw new Error(`drain gave up after ${max} jobs: does a job enqueue itself for ever?`)
        found = true
        ran.push(await this.#run(claim))
      }
    }
    return ran
  }

  async #claimOne(pool: string, unknownKinds: string[]): Promise<Claim | undefined> {
    const wanted = { pool, worker: this.#worker, slots: 1, unknownKinds }
    const [open] = await claimJobs(this.#database, { ...wanted, since: lowestRank })
    if (open) return open
    // Lanes with nothing for the kit go to the back of the line, so a few looks see all of them.
    for (let looks = 0; looks < lanedLooksMax; looks++) {
      const { claims, again } = await claimLaned(this.#database, wanted)
      if (claims[0] || !again) return claims[0]
    }
    return undefined
  }

  async #run(claim: Claim): Promise<Ran> {
    const kind = this.#kinds.get(claim.kind) as AnyKind
    this.#held.hold(claim)
    const held = this.#held.find(claim) as Held
    this.#runner.prepare()
    let ended: Verdict = await this.#runner.run(held, kind)
    this.#runner.end(held)
    const settler = new Settler({
      database: this.#database,
      kinds: this.#kinds,
      clock: systemClock,
      log: silentLog,
      probe: () => {},
      worker: () => this.#worker,
      payloadBytesMax: () => this.#payloadBytesMax,
      leaseMs,
      trusted: () => true,
      onWriteFailed: (_, error) => {
        ended = judgeFailedWrite(claim, kind, error, 0)
        return ended
      },
      onOver: () => {},
    })
    settler.add({ claim, verdict: ended, said: held.said, trace: held.trace })
    await settler.drained()
    await this.#runner.flush()
    this.#held.forget(claim)
    const error = 'error' in ended ? ended.error?.message : undefined
    return { id: claim.id, kind: claim.kind, attempt: claim.attempt, outcome: ended.outcome, error }
  }

  /** The offset at which the next schedule fires, if that is before the target. */
  async #nextFire(targetMs: number): Promise<number | undefined> {
    const { rows } = await this.#database.pool.query<{ ms: number }>(
      `select ceil(extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms from sluice.schedule
       where paused_at is null and next_at <= clock_timestamp() + $1 * interval '1 ms'`,
      [targetMs],
    )
    return rows[0]?.ms ?? undefined
  }

  /** As the leader would; nobody else leads on a test's database. */
  async #fire(): Promise<void> {
    const term = await this.#lead()
    const round = await fireDue({ database: this.#database, log: silentLog, term: () => term, onReady: () => {} })
    if (round?.again) throw new Error('a schedule could not be fired: is its row locked?')
  }

  async #promote(): Promise<void> {
    await this.#database.pool.query('select from sluice.promote($1, 1000000)', [await this.#lead()])
  }

  /** Alone with its database, the kit is the leader, until it is closed. */
  async #lead(): Promise<number> {
    const { rows } = await this.#database.pool.query<{ term: number }>(
      `update sluice.leader set term = term + 1, worker = $1, until = sluice.now() + interval '1 hour' returning term`,
      [this.#worker],
    )
    return rows[0]?.term as number
  }

  /** The pools that have ready jobs, and the kinds among them that are not ours. */
  async #lookAround(): Promise<{ pools: string[]; strangers: string[] }> {
    const { rows } = await this.#database.pool.query<{ kind: string; pool: string }>(
      `select distinct kind, pool from sluice.job where shelf is null and worker is null order by pool, kind`,
    )
    const strangers = new Set(rows.map(({ kind }) => kind).filter((kind) => !this.#kinds.has(kind)))
    return { pools: [...new Set(rows.map(({ pool }) => pool))], strangers: [...strangers] }
  }

  async #join(client: pg.ClientBase): Promise<void> {
    this.#sessions.add(client)
    client.once('end', () => this.#sessions.delete(client))
    await this.#turn(client)
  }

  async #turnTo(offsetMs: number): Promise<void> {
    this.#offsetMs = offsetMs
    await Promise.all([...this.#sessions].map((client) => this.#turn(client)))
  }

  async #turn(client: pg.ClientBase): Promise<void> {
    await client.query(`select set_config('sluice.clock_offset', $1, false)`, [`${this.#offsetMs} milliseconds`])
  }
}
