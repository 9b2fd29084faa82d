/**
 * A kit for testing handlers on a real database, without a worker process and without waiting.
 *
 * `drain` runs every ready job inline, one after the other, children included, through the same claim, executor and settle as in
 * production. `advance` turns the clock of the kit and of its database sessions together, so delayed jobs and retries fall due at once, and
 * schedules fire on the way, each at its time.
 */
import sql from 'sql-template-tag'
import type { Claim } from '../dispatch/claim.ts'
import { claimJobs, claimLaned, lowestRank } from '../dispatch/postgres/claim.ts'
import type { EventRequest } from '../event/event.ts'
import { registerEvents } from '../event/event-store.ts'
import { Events, type PublishOptions } from '../event/events.ts'
import { type Enqueued, enqueueOn } from '../job/enqueue.ts'
import { type JobLine, type JobLogPage, listJobLog } from '../job/job-log.ts'
import { findJob, type Job } from '../job/job-store.ts'
import { type AnyKind, askKind, type GivenServices, type ServicesOf } from '../job/kind.ts'
import { registerKinds, storeSettings } from '../job/kind-store.ts'
import { type EncodedRequest, encodeRequest, type JobRequest } from '../job/request.ts'
import type { Settled } from '../options.ts'
import { Database } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { fireDue } from '../schedule/fire-due.ts'
import { registerSchedules, Schedules } from '../schedule/schedules.ts'
import { systemClock } from '../support/clock.ts'
import { type Duration, toMs } from '../support/duration.ts'
import { eachOf, SluiceError } from '../support/errors.ts'
import { silentLog } from '../support/log.ts'
import { checkCount, checkOptions } from '../support/options.ts'
import type { Ended } from '../worker/ended.ts'
import { type Held, HeldClaims } from '../worker/held-claims.ts'
import { breakOff, handBack, judgeFailedWrite, type Verdict } from '../worker/judge.ts'
import { deregisterWorker, registerWorker } from '../worker/register.ts'
import { Runner } from '../worker/runner.ts'
import { Settler } from '../worker/settler.ts'
import { checkJobId, checkList, refuseMore } from './check-call.ts'
import { settleKitOptions, type TestKitOptions } from './kit-options.ts'
import { SessionClock } from './session-clock.ts'

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
const drainMax = 1_000

export async function createTestKit<K extends AnyKind>(
  options: TestKitOptions & { kinds: readonly K[] } & GivenServices<ServicesOf<K>>,
): Promise<TestKit> {
  return TestKit.open(settleKitOptions(options))
}

export class TestKit {
  readonly schedules: Schedules
  readonly events: Events
  readonly #database: Database
  readonly #kinds: ReadonlyMap<string, AnyKind>
  readonly #clock = new SessionClock()
  readonly #held = new HeldClaims()
  readonly #runner: Runner
  #worker = 0
  #payloadBytesMax = 0
  #closed: Promise<void> | undefined

  private constructor({ database, kinds, services }: Settled) {
    this.#kinds = kinds
    this.#database = new Database({
      url: database,
      poolMax: 4,
      prepare: true,
      log: silentLog,
      onConnect: (client) => this.#clock.join(client),
    })
    this.#runner = new Runner({
      database: this.#database,
      services,
      clock: systemClock,
      log: silentLog,
      random: () => 0,
      witness: { tell: () => {}, jobs: undefined },
      held: this.#held,
      priorityStepMs: () => 0,
    })
    const ready = async () => ({ on: this.#open(), payloadBytesMax: this.#payloadBytesMax })
    this.schedules = new Schedules(ready, () => {})
    this.events = new Events(ready)
  }

  static async open(options: Settled): Promise<TestKit> {
    await migrate(options.database, options.migrations)
    const kit = new TestKit(options)
    try {
      await kit.#register(options)
      return kit
    } catch (error) {
      await kit.#database.close()
      throw error
    }
  }

  async #register({ events, schedules }: Settled): Promise<void> {
    await registerKinds(this.#database, [...this.#kinds.values()])
    await registerEvents(this.#database, events, [...this.#kinds.values()])
    this.#payloadBytesMax = (await storeSettings(this.#database, {})).payloadBytesMax
    await registerSchedules(this.#database, schedules, { payloadBytesMax: this.#payloadBytesMax })
    this.#worker = await registerWorker(this.#database, { name: 'test kit', pools: {}, kinds: [...this.#kinds.keys()], leaseMs })
  }

  async close(): Promise<void> {
    this.#closed ??= this.#leave()
    await this.#closed
  }

  async #leave(): Promise<void> {
    await this.#runner.stop()
    try {
      for (const claim of this.#held.claims()) await this.#settle({ claim, verdict: breakOff })
      await this.#database.query(sql`update sluice.leader set worker = null, until = '-infinity' where worker = ${this.#worker}`)
      await deregisterWorker(this.#database, this.#worker)
    } finally {
      await this.#database.close()
    }
  }

  /** Its database, as long as it has one. */
  #open(): Database {
    if (this.#closed) throw new SluiceError('ENGINE_STOPPED', { place: 'This test kit is closed' })
    return this.#database
  }

  async enqueue(request: JobRequest, ...more: never[]): Promise<Enqueued> {
    const { pool } = this.#open()
    refuseMore('enqueue', more)
    const [enqueued] = await enqueueOn(pool, [this.#encode(request)], false)
    return enqueued as Enqueued
  }

  async enqueueMany(requests: readonly JobRequest[], ...more: never[]): Promise<Enqueued[]> {
    const { pool } = this.#open()
    refuseMore('enqueueMany', more)
    checkList('jobs', requests)
    const encoded = eachOf(requests, 'jobs', (request) => this.#encode(request))
    return enqueueOn(pool, encoded, false)
  }

  async publish(request: EventRequest, options?: PublishOptions): Promise<{ id: number }> {
    return this.events.publish(request, options)
  }

  async find(id: number): Promise<Job | undefined> {
    return findJob(this.#open(), checkJobId(id))
  }

  /** What its handlers logged. */
  async jobLog(id: number, page?: JobLogPage): Promise<JobLine[]> {
    return listJobLog(this.#open(), checkJobId(id), page)
  }

  /** Turns the clock; what falls due on the way is ready afterwards. Schedules fire each at its time. */
  async advance(by: Duration): Promise<void> {
    this.#open()
    const targetMs = this.#clock.offsetMs + toMs(by, 'advance')
    for (let fireMs = await this.#nextFire(targetMs); fireMs !== undefined; fireMs = await this.#nextFire(targetMs)) {
      await this.#clock.turnTo(Math.max(this.#clock.offsetMs, fireMs))
      await this.#fire()
    }
    await this.#clock.turnTo(targetMs)
    await this.#promote()
  }

  /** Runs what is ready until nothing is. Answers what ran, in order. Gives up after `max` jobs: one may enqueue itself for ever. */
  async drain(options: { max?: number } = {}): Promise<Ran[]> {
    this.#open()
    checkOptions('drain', options, ['max'])
    const max = checkCount('drain.max', options.max ?? drainMax)
    const ran: Ran[] = []
    await this.#promote()
    for (let found = true; found; ) {
      found = false
      const { pools, strangers } = await this.#lookAround()
      for (const pool of pools) {
        const claim = await this.#claimOne(pool, strangers)
        if (!claim) continue
        if (ran.length >= max) {
          await this.#settle({ claim, verdict: handBack })
          throw new SluiceError('INVALID_OPTION', { field: 'drain.max', problem: gaveUp(claim.kind, max) })
        }
        found = true
        ran.push(await this.#run(claim))
      }
    }
    return ran
  }

  async #claimOne(pool: string, unknownKinds: string[]): Promise<Claim | undefined> {
    const wanted = { pool, worker: this.#worker, slots: 1, unknownKinds }
    const [open] = await claimJobs(this.#open(), { ...wanted, since: lowestRank })
    if (open) return open
    // Lanes with nothing for the kit go to the back of the line, so a few looks see all of them.
    for (let looks = 0; looks < lanedLooksMax; looks++) {
      const { claims, again } = await claimLaned(this.#open(), wanted)
      if (claims[0] || !again) return claims[0]
    }
    return undefined
  }

  async #run(claim: Claim): Promise<Ran> {
    const kind = this.#kinds.get(claim.kind) as AnyKind
    this.#held.hold(claim)
    const held = this.#held.find(claim) as Held
    this.#runner.prepare()
    const verdict = await this.#runner.run(held, kind)
    this.#runner.end(held)
    const ended = await this.#settle({ claim, verdict, said: held.said, trace: held.trace })
    await this.#runner.flush()
    this.#held.forget(claim)
    const error = 'error' in ended ? ended.error?.message : undefined
    return { id: claim.id, kind: claim.kind, attempt: claim.attempt, outcome: ended.outcome, error }
  }

  /** Answers how it ended: a write may fail. */
  async #settle(end: Ended): Promise<Verdict> {
    const { claim } = end
    let ended: Verdict = end.verdict
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
        ended = judgeFailedWrite(claim, this.#kinds.get(claim.kind) as AnyKind, error, 0)
        return ended
      },
      onOver: () => {},
    })
    settler.add(end)
    await settler.drained()
    return ended
  }

  /** The offset at which the next schedule fires, if that is before the target. */
  async #nextFire(targetMs: number): Promise<number | undefined> {
    const { rows } = await this.#open().pool.query<{ ms: number }>(
      `select ceil(extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms from sluice.schedule
       where paused_at is null and next_at <= clock_timestamp() + $1 * interval '1 ms'`,
      [targetMs],
    )
    return rows[0]?.ms ?? undefined
  }

  /** As the leader would; nobody else leads on a test's database. */
  async #fire(): Promise<void> {
    const term = await this.#lead()
    const round = await fireDue({ database: this.#open(), log: silentLog, term: () => term, onReady: () => {} })
    if (round?.again) throw new Error('a schedule could not be fired: is its row locked?')
  }

  async #promote(): Promise<void> {
    const term = await this.#lead()
    await this.#open().pool.query('select from sluice.promote($1, 1000000)', [term])
  }

  /** Alone with its database, the kit is the leader, until it is closed. */
  async #lead(): Promise<number> {
    const { rows } = await this.#open().pool.query<{ term: number }>(
      `update sluice.leader set term = term + 1, worker = $1, until = sluice.now() + interval '1 hour' returning term`,
      [this.#worker],
    )
    return rows[0]?.term as number
  }

  /** The pools that have ready jobs, and the kinds among them that are not ours. */
  async #lookAround(): Promise<{ pools: string[]; strangers: string[] }> {
    const { rows } = await this.#open().pool.query<{ kind: string; pool: string }>(
      `select distinct kind, pool from sluice.job where shelf is null and worker is null order by pool, kind`,
    )
    const strangers = new Set(rows.map(({ kind }) => kind).filter((kind) => !this.#kinds.has(kind)))
    return { pools: [...new Set(rows.map(({ pool }) => pool))], strangers: [...strangers] }
  }

  /** A kind that is only named is asked all the same, as by the engine. */
  #encode(request: JobRequest): EncodedRequest {
    return encodeRequest(askKind(request, this.#kinds), { payloadBytesMax: this.#payloadBytesMax })
  }
}

function gaveUp(kind: string, max: number): string {
  return `drain gave up with a job of "${kind}" left, for ${max} have run: does one enqueue itself for ever? If not, raise it`
}
