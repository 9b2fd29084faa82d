/**
 * The engine: what users hold. It prepares the database, takes jobs in, and answers about them; what a started process does is in duties.ts.
 *
 * A process that only enqueues makes an engine and never starts it. One that works calls `start`.
 */
import type { Sql } from 'sql-template-tag'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { type Dispatch, readDispatched } from './dispatch/processes.ts'
import { createDispatcher } from './dispatch.ts'
import { Duties } from './duties.ts'
import type { EventRequest } from './event/event.ts'
import { Events, type PublishOptions } from './event/events.ts'
import type { Change } from './inspect/change.ts'
import type { Stop } from './inspect/feed.ts'
import { Inspect } from './inspect/inspect.ts'
import type { TransactionClient } from './job/context.ts'
import type { Enqueued, EnqueueOptions } from './job/enqueue.ts'
import { Enqueuer } from './job/enqueuer.ts'
import { explainJob } from './job/explain.ts'
import type { Explanation } from './job/explanation.ts'
import { Intake } from './job/intake.ts'
import { type JobLine, type JobLogPage, listJobLog } from './job/job-log.ts'
import { type Attempt, findJob, type Job, listAttempts, listFailed } from './job/job-store.ts'
import type { StoredSettings } from './job/kind-store.ts'
import type { EncodedRequest, JobRequest } from './job/request.ts'
import * as steer from './job/steer.ts'
import { topicsFor, Waker } from './job/waker.ts'
import { Lanes } from './lane/lanes.ts'
import { Owners } from './lane/owners.ts'
import type { Settled, StopOptions } from './options.ts'
import { checkStatement, clientOf, type Executor, onClient, type QueryClient, type Rows } from './postgres/client.ts'
import { explainConnect, explained } from './postgres/connect.ts'
import { Database } from './postgres/database.ts'
import { lending } from './postgres/lend.ts'
import { register } from './registration.ts'
import { Runs } from './run/runs.ts'
import { Schedules } from './schedule/schedules.ts'
import { Secrets } from './secret/secrets.ts'
import { type EngineStatus, findProblems } from './status.ts'
import { systemClock } from './support/clock.ts'
import { toMs } from './support/duration.ts'
import { SluiceError } from './support/errors.ts'
import { checkCount, checkId, checkIds, checkOptions } from './support/options.ts'

/** What the last words may take after the grace, before connections are cut. */
const goodbyeMs = 5_000

export class Engine implements Executor {
  readonly lanes: Lanes
  readonly owners: Owners
  readonly runs: Runs
  readonly schedules: Schedules
  readonly events: Events
  /** Lists, search and counts for people. */
  readonly inspect: Inspect
  readonly secrets: Secrets
  readonly #options: Settled
  readonly #database: Database
  readonly #waker: Waker
  readonly #dispatcher: Dispatcher
  readonly #enqueuer: Enqueuer
  readonly #intake: Intake
  readonly #duties: Duties
  #prepared: Promise<void> | undefined
  #stored: StoredSettings = { payloadBytesMax: 0, priorityStepMs: 0 }
  #isPrepared = false
  #started: Promise<void> | undefined
  #stopped: Promise<void> | undefined
  /** Its jobs have ended: nobody uses the database any more. */
  #left = false

  constructor(options: Settled) {
    const { clock, log, kinds, leaseMs } = options
    this.#options = options
    const database = new Database({
      url: options.database,
      poolMax: options.poolMax,
      prepare: options.prepare,
      log,
      answers: { limitMs: 3 * leaseMs, clock: systemClock }, // a connection that hangs does so by no clock of ours
      lookMsMax: options.lookMsMax,
    })
    this.#database = database
    const ready = (): Promise<Database> => this.#ready()
    const limits = { payloadBytesMax: () => this.#stored.payloadBytesMax, priorityStepMs: () => this.#stored.priorityStepMs }
    const dispatcher = createDispatcher(options, database, limits.priorityStepMs, (fact) => this.#duties.witness.tell(fact))
    this.#dispatcher = dispatcher
    const duties = new Duties({ options, database, dispatcher, ...limits, leaving: () => this.#stopped !== undefined })
    this.#duties = duties
    const { witness } = duties
    const topicsOf = (request: EncodedRequest): string[] => topicsFor(request, kinds.get(request.kind))
    this.#waker = new Waker({ database, clock, topicsOf, wakeHere: (topic) => duties.wake([topic]) })
    this.#enqueuer = new Enqueuer(database, this.#waker, { dispatcher, kinds })
    this.#intake = new Intake({ ...limits, kinds, enqueuer: this.#enqueuer, witness })
    const limited = async () => ({ on: await this.#ready(), payloadBytesMax: limits.payloadBytesMax() })
    this.lanes = new Lanes(ready, clock, witness.tell)
    this.owners = new Owners(ready, clock)
    this.runs = new Runs(ready, kinds, duties.runWaiters)
    this.secrets = new Secrets(ready, options.secrets)
    this.schedules = new Schedules(limited, () => duties.hearSchedules())
    this.events = new Events(limited, witness.tell)
    this.inspect = new Inspect({ ready, clock, onRequested: duties.cancel })
  }

  /** Brings the schema up to date and registers the kinds. `start` and the first `enqueue` do it by themselves. */
  async migrate(): Promise<void> {
    await this.#prepare()
  }

  async start(): Promise<void> {
    this.#refuseIfStopped()
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined // the database may be back at the next call
      throw error
    })
    await this.#started
  }

  /** Stops claiming, lets running jobs end, hands back the rest. The heartbeat stops last, so that nobody takes the jobs meanwhile. */
  async stop(options: StopOptions = {}): Promise<void> {
    checkOptions('stop', options, ['grace'])
    const { clock, log } = this.#options
    const graceMs = options.grace === undefined ? this.#options.graceMs : toMs(options.grace, 'stop.grace')
    this.#duties.shortenGrace(graceMs)
    this.#stopped ??= this.#leave()
    const silent = clock.after(graceMs + goodbyeMs, () => {
      if (this.#left) log.warn('left with a connection in use', { effect: 'a transaction that is open is rolled back' })
      else log.warn('left without a word: PostgreSQL does not answer', { effect: 'what ran here is rescued when its lease ends' })
      this.#database.cut()
    })
    await this.#stopped.finally(() => silent.cancel())
  }

  /** No async function: each caller would hear of its job two turns of the queue later. */
  enqueue(request: JobRequest, options?: EnqueueOptions): Promise<Enqueued> {
    try {
      const client = clientOf('enqueue', options)
      return this.#isPrepared && !this.#left ? this.#intake.one(request, client) : this.#enqueueOncePrepared(request, client)
    } catch (error) {
      return this.#refuse(error)
    }
  }

  async #enqueueOncePrepared(request: JobRequest, client: QueryClient | undefined): Promise<Enqueued> {
    await this.#prepare()
    return this.#intake.one(request, client)
  }

  /** All of them or none. */
  async enqueueMany(requests: readonly JobRequest[], options?: EnqueueOptions): Promise<Enqueued[]> {
    const client = clientOf('enqueueMany', options)
    await this.#prepare()
    return this.#intake.many(requests, client)
  }

  /** Whoever subscribes gets a job for it, committed together with the event. */
  async publish(request: EventRequest, options: PublishOptions = {}): Promise<{ id: number }> {
    return this.events.publish(request, options)
  }

  /** For what stands on the engine and keeps its data in the same database: one statement on the engine's pool, ids as numbers. */
  async query<R>(statement: Sql): Promise<Rows<R>> {
    return (await this.#ready()).query<R>(checkStatement(statement))
  }

  /** All of it or nothing. Hand `tx` to `enqueue` and `publish`, so that what follows from your change commits with it. */
  async transaction<T>(act: (tx: TransactionClient) => Promise<T>): Promise<T> {
    return (await this.#ready()).transaction(this.#options.leaseMs, lending(act))
  }

  async find(id: number): Promise<Job | undefined> {
    return findJob(await this.#looking(), checkId('job', id))
  }

  async attempts(id: number): Promise<Attempt[]> {
    return listAttempts(await this.#looking(), checkId('job', id))
  }

  /** What its handlers logged, oldest first. */
  async jobLog(id: number, page: JobLogPage = {}): Promise<JobLine[]> {
    return listJobLog(await this.#looking(), checkId('job', id), page)
  }

  async failed(page: { after?: number; limit?: number } = {}): Promise<Job[]> {
    checkOptions('failed', page, ['after', 'limit'])
    const { after = 0, limit = 100 } = page
    return listFailed(await this.#looking(), { after: checkId('job', after), limit: checkCount('limit', limit) })
  }

  async why(id: number): Promise<Explanation> {
    return explainJob(await this.#looking(), checkId('job', id))
  }

  /** `tree` cancels everything below the job as well. */
  async cancel(id: number, options: { tree?: boolean; reason?: string } = {}): Promise<Map<number, steer.CancelAnswer>> {
    checkOptions('cancel', options, ['tree', 'reason'])
    const { tree = false, reason } = options
    const on = await this.#ready()
    checkId('job', id)
    const request = { reason, onRequested: this.#duties.cancel }
    return tree ? steer.cancelTree(on, id, request) : steer.cancelJobs(on, [id], request)
  }

  async retry(ids: number | readonly number[]): Promise<Map<number, steer.RetryAnswer>> {
    const jobs = checkIds('job', ids)
    return steer.retryJobs(await this.#ready(), jobs)
  }

  async discard(ids: number | readonly number[]): Promise<number> {
    const jobs = checkIds('job', ids)
    return steer.discardJobs(await this.#ready(), jobs)
  }

  /** With a client of yours it holds if and only if you commit. */
  async pause(target: steer.PauseTarget, reason?: string, options?: EnqueueOptions): Promise<void> {
    const client = clientOf('pause', options)
    const on = await this.#ready()
    await steer.pauseTarget(client ? onClient(client) : on, target, reason)
  }

  async resume(target: steer.PauseTarget, options?: EnqueueOptions): Promise<boolean> {
    const client = clientOf('resume', options)
    const on = await this.#ready()
    return steer.resumeTarget(client ? onClient(client) : on, target)
  }

  async pauses(): Promise<steer.Pause[]> {
    return steer.listPauses(await this.#looking())
  }

  /** Tells that something changed, in whatever process, so that who shows it looks again: a hint, a few a second at most. For a started engine. */
  watch(listener: (change: Change) => void): Stop {
    return this.#duties.watch(listener)
  }

  /** Which processes have their jobs from Redis, what it holds of these pools, and whether it answers here. Also for an engine that is not started. */
  async dispatch(pools: readonly string[]): Promise<Dispatch> {
    const database = await this.#ready()
    const [held, processes] = await Promise.all([this.#dispatcher.measure(pools), readDispatched(database)]).catch(explained)
    return { ...this.#dispatcher.status, pools: held, processes }
  }

  status(): EngineStatus {
    const { answered, trusted, ...said } = this.#duties.status()
    const problems = findProblems({ stopped: !!this.#stopped, started: !!this.#started, answered, trusted })
    return { ready: problems.length === 0, problems, ...said }
  }

  #prepare(): Promise<void> {
    // While it stops, what still runs may read and enqueue.
    if (!this.#prepared || this.#left) this.#refuseIfStopped()
    // A failure is not remembered: the database may be back at the next call.
    this.#prepared ??= this.#register().catch((error: unknown) => {
      this.#prepared = undefined
      throw explainConnect(error)
    })
    return this.#prepared
  }

  async #refuse(error: unknown): Promise<never> {
    throw error
  }

  async #register(): Promise<void> {
    this.#stored = await register(this.#database, this.#options)
    this.#isPrepared = true
  }

  async #ready(): Promise<Database> {
    await this.#prepare()
    return this.#database
  }

  async #looking(): Promise<Executor> {
    return (await this.#ready()).looking
  }

  async #start(): Promise<void> {
    await this.#prepare()
    await this.#duties.start().catch(explained)
  }

  async #leave(): Promise<void> {
    this.#duties.runWaiters.stop()
    await this.#started?.catch(() => {})
    if (this.#started) await this.#duties.stop()
    await this.#prepared?.catch(() => {})
    this.#left = true
    await this.#enqueuer.stop()
    await this.#waker.flush()
    await this.#dispatcher.stop()
    await this.#database.close()
  }

  #refuseIfStopped(): void {
    if (this.#stopped) throw new SluiceError('ENGINE_STOPPED')
  }
}
