/**
 * Runs, as people start, watch and stop them.
 */
import sql, { empty } from 'sql-template-tag'
import { explainRefusal } from '../job/enqueue.ts'
import type { AnyKind } from '../job/kind.ts'
import { withDays } from '../job/missing-day.ts'
import { encodePayload } from '../job/request.ts'
import { retryJobs } from '../job/steer.ts'
import { checkClient, type Executor, type QueryClient } from '../postgres/client.ts'
import { explainConnect } from '../postgres/connect.ts'
import { SluiceError, type StoredError } from '../support/errors.ts'
import { checkId, checkOptions } from '../support/options.ts'
import { checkText } from '../support/text.ts'
import { startSending, traceparentPattern, withSending } from '../support/trace.ts'
import { finalizerOf, type RunRequest } from './run-kind.ts'
import type { RunWaiters } from './run-waiters.ts'

export type RunState = 'created' | 'planning' | 'running' | 'finalizing' | 'completed' | 'failed' | 'canceled'

export interface Run {
  readonly id: number
  readonly kind: string
  readonly owner: string | null
  readonly state: RunState
  /** Who or what started it. */
  readonly trigger: string
  readonly payload: unknown
  readonly total: number
  /** Not ended yet. */
  readonly pending: number
  readonly succeeded: number
  readonly failed: number
  readonly canceled: number
  readonly error: StoredError | null
  readonly rootJob: number
  readonly finalizerJob: number | null
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

// Not "exists": for a list the planner would rather read the whole job table once than look up each root (24 ms instead of 0.2 with 30,000 jobs).
export const runColumns = sql`
  r.id, r.kind, r.owner, r.trigger, r.payload, r.total, r.pending, r.succeeded, r.failed, r.canceled, r.error, r.root_job as "rootJob", r.finalizer_job as "finalizerJob",
  r.created_at as "createdAt", r.finished_at as "finishedAt",
  case when r.state = 'created' and (select j.attempt from sluice.job j where j.id = r.root_job) > 0 then 'planning' else r.state end as state`

export interface StartOptions {
  /** Who or what starts it. Default `manual`. */
  readonly trigger?: string
  /** A client of yours with an open transaction: the run is there if and only if you commit. */
  readonly client?: QueryClient
  /** W3C traceparent that its jobs carry on. Default: the active span. */
  readonly trace?: string
}

const startText = 'select id, created from sluice.start_run($1, $2, $3::jsonb, $4, $5, $6::jsonb)'

export class Runs {
  readonly #on: () => Promise<Executor & { readonly pool: QueryClient }>
  readonly #kinds: ReadonlyMap<string, AnyKind>
  readonly #waiters: Pick<RunWaiters, 'seen'>

  constructor(
    on: () => Promise<Executor & { readonly pool: QueryClient }>,
    kinds: ReadonlyMap<string, AnyKind>,
    waiters: Pick<RunWaiters, 'seen'>,
  ) {
    this.#on = on
    this.#kinds = kinds
    this.#waiters = waiters
  }

  /** One of a kind and owner at a time: a second start is refused and names the one that is under way. */
  async start({ kind, payload, owner }: RunRequest, options: StartOptions = {}): Promise<Run> {
    checkOptions('runs.start', options, ['trigger', 'client', 'trace'])
    // In plain JavaScript anything may come: a run that was not called has no kind.
    if (typeof kind !== 'string' && typeof (kind as { kindName?: unknown } | undefined)?.kindName !== 'string')
      throw new SluiceError('INVALID_OPTION', {
        field: 'run',
        problem: 'is nothing to start; call a run, as in collect({ user }), or give { kind, payload }',
      })
    const on = await this.#on()
    const client = checkClient(options.client) ?? on.pool
    if (typeof kind === 'string') this.#kinds.get(kind)?.check(payload ?? {})
    const named = typeof kind === 'string' ? { kindName: kind, finalizer: await findFinalizer(on, kind) } : kind
    const { trigger = 'manual', trace } = options
    if (trace !== undefined && !traceparentPattern.test(trace))
      throw new SluiceError('INVALID_OPTION', { field: 'trace', problem: 'is no W3C traceparent' })
    const sending = startSending('start', named.kindName, 1, trace)
    const carried = JSON.stringify({ trace: sending?.trace ?? trace })
    const values = [
      named.kindName,
      owner ?? null,
      encodePayload(named.kindName, payload, Number.POSITIVE_INFINITY),
      trigger,
      named.finalizer ?? null,
      carried,
    ]
    const send = (): Promise<{ rows: unknown[] }> => client.query(startText, values)
    const { rows } = await withSending(sending, send, () => []).catch((error: unknown) => {
      const refused = explainRefusal(error, [])
      throw options.client ? refused : explainConnect(refused)
    })
    const started = rows[0] as { id: number | string; created: boolean }
    const run = Number(started.id)
    if (!started.created)
      throw new SluiceError('RUN_ACTIVE', { kind: named.kindName, owner, whose: owner === undefined ? '' : ` for ${owner}`, run })
    const found = await client.query(sql`select ${runColumns} from sluice.run r where r.id = ${run}`.text, [run])
    return tidy(found.rows[0] as Run)
  }

  async find(id: number): Promise<Run | undefined> {
    checkId('run', id)
    const on = await this.#on()
    const { rows } = await on.query<Run>(sql`select ${runColumns} from sluice.run r where r.id = ${id}`)
    return rows[0] && tidy(rows[0])
  }

  /** Waits until it has ended, wherever its jobs run: completed, failed or canceled. A started engine is told; another one looks every second. */
  async ended(id: number, options: { signal?: AbortSignal } = {}): Promise<Run> {
    checkId('run', id)
    checkOptions('runs.ended', options, ['signal'])
    const look = async (): Promise<Run | undefined> => {
      const run = await this.find(id)
      if (!run) throw new SluiceError('UNKNOWN_RUN', { run: id })
      return run.finishedAt ? run : undefined
    }
    return this.#waiters.seen(id, look, options.signal)
  }

  /** Newest first. */
  async list(page: { kind?: string; owner?: string; before?: number; limit?: number } = {}): Promise<Run[]> {
    checkOptions('runs.list', page, ['kind', 'owner', 'before', 'limit'])
    const on = await this.#on()
    const { rows } = await on.query<Run>(sql`
      select ${runColumns} from sluice.run r
      where true ${page.kind === undefined ? empty : sql`and r.kind = ${page.kind}`} ${page.owner === undefined ? empty : sql`and r.owner = ${page.owner}`}
        ${page.before === undefined ? empty : sql`and r.id < ${page.before}`}
      order by r.id desc limit ${page.limit ?? 100}`)
    return rows.map(tidy)
  }

  /** Its jobs stop and it ends as canceled; what runs is told. */
  async cancel(id: number, reason?: string): Promise<'canceled' | 'not active' | 'unknown'> {
    const answer = await this.#stop(id, 'canceled', reason)
    return answer === 'stopped' ? 'canceled' : answer
  }

  /** Gives it up: its jobs stop and it ends as failed, for a reason that no job of it can see. */
  async fail(id: number, reason: string): Promise<'failed' | 'not active' | 'unknown'> {
    const answer = await this.#stop(id, 'failed', reason)
    return answer === 'stopped' ? 'failed' : answer
  }

  /** Tries its failed jobs again. While it goes on they count for it once more; a dead root or finalizer brings it back. */
  async retryFailed(id: number): Promise<number> {
    checkId('run', id)
    const on = await this.#on()
    const { rows } = await on.query<{ id: number }>(
      sql`select id from sluice.job where run = ${id} and shelf = 'failed' order by id`,
    )
    const answers = await retryJobs(
      on,
      rows.map((row) => Number(row.id)),
    )
    return [...answers.values()].filter((answer) => answer === 'retried').length
  }

  async #stop(id: number, as: 'canceled' | 'failed', reason?: string): Promise<'stopped' | 'not active' | 'unknown'> {
    checkId('run', id)
    checkText('reason', reason)
    const on = await this.#on()
    const { rows } = await withDays(on, () =>
      on.query<{ answer: 'stopped' | 'not active' | 'unknown' }>(
        sql`select sluice.stop_run(${id}, ${as}, ${reason ?? null}) as answer`,
      ),
    )
    return rows[0]?.answer ?? 'unknown'
  }
}

/** A run that another process defined registered its finalizer beside it. */
async function findFinalizer(on: Executor, kind: string): Promise<string | undefined> {
  const { rows } = await on.query<{ name: string }>(sql`select name from sluice.kind where name = ${finalizerOf(kind)}`)
  return rows[0]?.name
}

/** A client of the caller's may give big numbers as text. */
function tidy(run: Run): Run {
  return {
    ...run,
    id: Number(run.id),
    rootJob: Number(run.rootJob),
    finalizerJob: run.finalizerJob === null ? null : Number(run.finalizerJob),
  }
}
