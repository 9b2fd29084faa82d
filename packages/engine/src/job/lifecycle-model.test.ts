/**
 * Lifecycle and dedupe against a model: random commands run on PostgreSQL and on a few lines of TypeScript, and after each one both must show
 * the same jobs. The clock stands still but for one command, so that times and ranks can be compared to the millisecond.
 */
import fc from 'fast-check'
import type pg from 'pg'
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { enqueueOn } from './enqueue.ts'
import { type JobState, moves } from './lifecycle.ts'
import { type DedupeMode, encodeRequest, type JobOptions } from './request.ts'

const startMs = Date.UTC(2030, 0, 1)
const stepMs = 60_000
const crashesMax = 3
const registerWorker = `insert into sluice.worker (id, name, kinds, lease_until) values (1000, 'test', '{a,b}', 'infinity') on conflict do nothing`
const live: JobState[] = ['scheduled', 'ready', 'paused', 'running', 'failed']

interface Ask {
  kind: 'a' | 'b'
  n: number
  key: 'x' | 'y' | undefined
  mode: DedupeMode | 'none' | undefined
  delayS: number | undefined
  uniqueS: number | undefined
  maxS: number | undefined
  priority: number
}

interface ModelJob {
  id: number
  kind: string
  n: number
  state: JobState
  priority: number
  rank: number
  key: string | null
  rule: 'end' | 'start' | 'again' | null
  after: string | null
  runAt: number | null
  attempt: number
  crashes: number
  canceling: boolean
  createdMs: number
}

/** What the engine promises, in the plainest words. */
class Model {
  nowMs = startMs
  readonly jobs = new Map<number, ModelJob>()
  readonly ledger = new Map<number, JobState>()
  readonly windows = new Map<string, { untilMs: number; id: number }>()
  readonly paused = new Set<string>()

  among(...states: JobState[]): ModelJob[] {
    return [...this.jobs.values()].filter(({ state }) => states.includes(state)).toSorted((a, b) => a.id - b.id)
  }

  holder(key: string | null): ModelJob | undefined {
    return key === null ? undefined : [...this.jobs.values()].find((job) => job.key === key && job.state !== 'failed')
  }

  /** The job that stands for the request already, or how the new one begins. */
  enqueue(ask: Ask): { existing: number } | { fresh: Omit<ModelJob, 'id'>; window: string | null } {
    const mode = ask.mode === 'none' ? null : (ask.mode ?? (ask.key || ask.uniqueS ? 'keep' : null))
    const unique = ask.mode === 'none' ? undefined : ask.uniqueS
    const key = mode && `${ask.kind}${ask.key ? `/${ask.key}` : `={"n": ${ask.n}}`}`
    const dueMs = this.nowMs + (ask.delayS ?? 0) * 1_000
    const window = key ? this.windows.get(key) : undefined
    if (unique && window && window.untilMs > this.nowMs) return { existing: window.id }
    const holder = this.holder(key)
    const waits = holder && ['scheduled', 'ready', 'paused'].includes(holder.state)
    if (waits && (mode === 'replace' || mode === 'debounce')) {
      holder.n = ask.n
      const wasPaused = holder.state === 'paused'
      if (mode === 'debounce') this.#schedule(holder, Math.min(dueMs, holder.createdMs + (ask.maxS ?? 1e6) * 1_000))
      if (wasPaused && holder.state === 'ready') holder.state = 'paused'
      return { existing: holder.id }
    }
    const follows = mode !== 'keep' && holder?.state === 'running'
    const follower = follows && [...this.jobs.values()].find((job) => job.after === key)
    if (follower && mode !== 'again') follower.n = ask.n
    if (follower) return { existing: follower.id }
    if (holder && !follows) return { existing: holder.id }
    const state = follows || dueMs > this.nowMs ? 'scheduled' : this.paused.has(ask.kind) ? 'paused' : 'ready'
    const fresh: Omit<ModelJob, 'id'> = {
      kind: ask.kind,
      n: ask.n,
      priority: ask.priority,
      state,
      attempt: 0,
      crashes: 0,
      canceling: false,
      createdMs: this.nowMs,
      rank: dueMs - ask.priority * stepMs,
      key: follows ? null : key,
      rule: key === null ? null : mode === 'keep' ? 'end' : mode === 'again' ? 'again' : 'start',
      after: follows ? key : null,
      runAt: follows ? Number.POSITIVE_INFINITY : dueMs > this.nowMs ? dueMs : null,
    }
    return { fresh, window: unique ? key : null }
  }

  claim(suspect: boolean): ModelJob | undefined {
    const order = suspect
      ? (a: ModelJob, b: ModelJob) => a.id - b.id
      : (a: ModelJob, b: ModelJob) => a.rank - b.rank || a.id - b.id
    const [next] = this.among('ready')
      .filter((job) => !this.paused.has(job.kind) && job.crashes >= 2 === suspect)
      .toSorted(order)
    if (next) Object.assign(next, { state: 'running', attempt: next.attempt + 1, key: next.rule === 'start' ? null : next.key })
    return next
  }

  settle(job: ModelJob, outcome: string, delayS: number): void {
    if (outcome === 'done') return this.end(job, 'succeeded')
    if (outcome === 'canceled' || (job.canceling && outcome !== 'failed')) return this.end(job, 'canceled')
    if (outcome === 'failed') job.state = 'failed'
    else if (outcome === 'handed back') Object.assign(job, { state: 'ready', attempt: job.attempt - 1 })
    else {
      if (outcome === 'snooze') job.attempt--
      job.crashes = 0
      this.#schedule(job, this.nowMs + (outcome === 'snooze' ? delayS || 1 : delayS) * 1_000)
    }
    this.release()
  }

  end(job: ModelJob, state: JobState): void {
    if (job.state !== state) expect(moves[job.state]).toContain(state)
    this.jobs.delete(job.id)
    this.ledger.set(job.id, state)
    this.release()
  }

  /** Whoever waited for a key that nobody holds any more. */
  release(): void {
    for (const job of this.jobs.values()) {
      if (!job.after || this.holder(job.after)) continue
      this.#schedule(job, Math.max(this.nowMs, job.rank + job.priority * stepMs))
      Object.assign(job, { key: job.after, after: null })
    }
  }

  wakeUp(job: ModelJob): void {
    Object.assign(job, { state: this.paused.has(job.kind) ? 'paused' : 'ready', runAt: null })
  }

  #schedule(job: ModelJob, dueMs: number): void {
    const later = dueMs > this.nowMs
    Object.assign(job, { state: later ? 'scheduled' : 'ready', runAt: later ? dueMs : null, rank: dueMs - job.priority * stepMs })
  }
}

const raise = (message: string): never => {
  throw new Error(message)
}

type Real = pg.Client
interface Command extends fc.AsyncCommand<Model, Real> {}

/** Runs on both sides when there is a job in one of these states, then compares everything that can be seen. */
function command(name: string, needs: JobState[], run: (model: Model, real: Real) => Promise<unknown>): Command {
  return {
    check: (model) => needs.length === 0 || model.among(...needs).length > 0,
    toString: () => name,
    async run(model, real) {
      await run(model, real)
      // The leader's round: it finds followers that no settle released.
      await real.query('select sluice.park(1, 100)')
      expect(await shown(real)).toEqual({
        live: model.among(...live).map(({ rule: _rule, createdMs: _createdMs, ...seen }) => seen),
        ended: Object.fromEntries(model.ledger),
      })
    },
  }
}

const pick = (list: readonly ModelJob[], n: number): ModelJob => list.at(n % list.length) ?? raise('nothing to pick from')

const enqueue = (ask: Ask, viaSql: boolean): Command =>
  command(`enqueue(${JSON.stringify(ask)}${viaSql ? ', by SQL' : ''})`, [], async (model, real) => {
    const made = await (viaSql ? enqueueBySql(real, ask) : enqueueByClient(real, ask))
    const expected = model.enqueue(ask)
    expect(made.created).toBe('fresh' in expected)
    if ('existing' in expected) return expect(made.id).toBe(expected.existing)
    model.jobs.set(made.id, { id: made.id, ...expected.fresh })
    if (expected.window) model.windows.set(expected.window, { untilMs: model.nowMs + (ask.uniqueS ?? 0) * 1_000, id: made.id })
  })

const claim = (suspect: boolean): Command =>
  command(suspect ? 'claimSuspect' : 'claim', [], async (model, real) => {
    const call = suspect ? `claim_suspect(1000, '{light}')` : `claim('light', 1000, 1, -9e15::bigint, '{}')`
    const { rows } = await real.query(`select id::int from sluice.${call}`)
    expect(rows.map(({ id }) => id)).toEqual([model.claim(suspect)?.id].filter((id) => id !== undefined))
  })

const settle = (n: number, outcome: string, delayS: number): Command =>
  command(`settle(${n}, ${outcome}, ${delayS})`, ['running'], async (model, real) => {
    const job = pick(model.among('running'), n)
    const { rows } = await real.query(
      `select (sluice.settle(1000, array[j.id], array[j.fence], array[$2], array[$3::float8], array[null::timestamptz], array[null::jsonb], array[0], null, true)).stale
       from sluice.job j where j.id = $1`,
      [job.id, outcome, delayS * 1_000],
    )
    expect(rows).toEqual([{ stale: [] }])
    model.settle(job, outcome, delayS)
  })

const stale = (n: number): Command =>
  command(`settleStale(${n})`, live, async (model, real) => {
    const { id } = pick(model.among(...live), n)
    const { rows } = await real.query(
      `select (sluice.settle_done(array[id], array[fence - 1], true)).stale from sluice.job where id = $1`,
      [id],
    )
    expect(rows).toEqual([{ stale: [String(id)] }])
  })

const crash = command('crash', [], async (model, real) => {
  await real.query(`update sluice.worker set lease_until = '-infinity'`)
  await real.query('select sluice.rescue(1, $1, false)', [crashesMax])
  await real.query(registerWorker)
  for (const job of model.among('running')) {
    if (job.canceling) model.end(job, 'canceled')
    else Object.assign(job, { crashes: job.crashes + 1, state: job.crashes + 1 >= crashesMax ? 'failed' : 'ready' })
  }
  model.release()
})

const cancel = (n: number): Command =>
  command(`cancel(${n})`, live, async (model, real) => {
    const job = pick(model.among(...live), n)
    const { rows } = await real.query('select answer from sluice.cancel(array[$1::bigint], null)', [job.id])
    expect(rows).toEqual([{ answer: job.state === 'running' ? 'requested' : 'canceled' }])
    if (job.state === 'running') job.canceling = true
    else model.end(job, 'canceled')
  })

const retry = (n: number): Command =>
  command(`retry(${n})`, ['failed'], async (model, real) => {
    const job = pick(model.among('failed'), n)
    const { rows } = await real.query('select answer from sluice.retry(array[$1::bigint])', [job.id])
    expect(rows).toEqual([{ answer: model.holder(job.key) ? 'conflict' : 'retried' }])
    if (model.holder(job.key)) return
    Object.assign(job, { attempt: 0, crashes: 0, canceling: false, rank: model.nowMs - job.priority * stepMs })
    model.wakeUp(job)
  })

const discard = (n: number): Command =>
  command(`discard(${n})`, ['failed'], async (model, real) => {
    const job = pick(model.among('failed'), n)
    await real.query('select sluice.discard(array[$1::bigint])', [job.id])
    model.end(job, 'failed')
  })

const advance = (seconds: number): Command =>
  command(`advance(${seconds} s)`, [], async (model, real) => {
    model.nowMs += seconds * 1_000
    await real.query(`select set_config('test.now', $1, false)`, [new Date(model.nowMs).toISOString()])
    await real.query('select sluice.promote(1, 100)')
    for (const job of model.among('scheduled')) if ((job.runAt ?? 0) <= model.nowMs) model.wakeUp(job)
  })

const pause = (kind: string): Command =>
  command(`pause(${kind})`, [], async (model, real) => {
    await real.query(`insert into sluice.pause (scope, name) values ('kind', $1) on conflict do nothing`, [kind])
    if (!model.paused.has(kind)) for (const job of model.among('ready')) if (job.kind === kind) job.state = 'paused'
    model.paused.add(kind)
  })

const resume = (kind: string): Command =>
  command(`resume(${kind})`, [], async (model, real) => {
    await real.query('delete from sluice.pause where name = $1', [kind])
    model.paused.delete(kind)
    for (const job of model.among('paused')) if (job.kind === kind) job.state = 'ready'
  })

const seconds = fc.constantFrom(undefined, 0, 5, 20)
const ask: fc.Arbitrary<Ask> = fc.record({
  kind: fc.constantFrom('a', 'b'),
  n: fc.nat(2),
  key: fc.constantFrom('x', 'x', 'y', undefined),
  mode: fc.constantFrom('none', 'keep', 'replace', 'debounce', 'again', 'again', undefined),
  delayS: seconds,
  uniqueS: fc.constantFrom(undefined, undefined, undefined, 30),
  maxS: fc.constantFrom(undefined, 10),
  priority: fc.nat(1),
})
const outcomes = fc.constantFrom('done', 'retry', 'snooze', 'failed', 'canceled', 'handed back')
const commands = fc.commands(
  [
    fc.tuple(ask, fc.boolean()).map(([request, viaSql]) => enqueue(request, viaSql)),
    fc.tuple(ask, fc.boolean()).map(([request, viaSql]) => enqueue(request, viaSql)),
    fc.constant(claim(false)),
    fc.constant(claim(false)),
    fc.constant(claim(true)),
    fc.tuple(fc.nat(5), outcomes, fc.constantFrom(0, 5, 20)).map((args) => settle(...args)),
    fc.nat(5).map(stale),
    fc.constant(crash),
    fc.nat(5).map(cancel),
    fc.nat(5).map(retry),
    fc.nat(5).map(discard),
    fc.constantFrom(1, 5, 30).map(advance),
    fc.constantFrom('a', 'b').map(pause),
    fc.constantFrom('a', 'b').map(resume),
  ],
  { maxCommands: 60, size: 'max' },
)

test('[E-05] [Q-03] jobs live, die and stand in for each other as a few lines of TypeScript say', { timeout: 120_000 }, async ({
  client,
}) => {
  await client.query(`
    create or replace function sluice.now() returns timestamptz language sql stable as $$ select current_setting('test.now')::timestamptz $$;
    set test.now = '2030-01-01T00:00:00Z';
    select sluice.add_days('2030-01-01', 1);
    insert into sluice.kind (name) values ('a'), ('b');
    update sluice.leader set term = 1, worker = 1, until = 'infinity'`)
  await client.query(registerWorker)
  await watchMoves(client)
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      await client.query(`
        truncate sluice.job, sluice.job_ledger, sluice.attempt, sluice.key_window, sluice.pause;
        set test.now = '${new Date(startMs).toISOString()}'`)
      await fc.asyncModelRun(() => ({ model: new Model(), real: client }), list)
    }),
    { numRuns: 80 },
  )
  const { rows } = await client.query('select distinct "from", "to" from test_move')
  for (const { from, to } of rows) expect(moves[from as JobState], `${from} → ${to}`).toContain(to)
})

async function shown(client: pg.Client) {
  const jobs = await client.query(`
    select id::int, kind, (payload -> 'n')::int as n, sluice.state_of(shelf, worker) as state, priority, rank::float8, key, after_key as after, attempt, crashes,
           extract(epoch from run_at)::float8 * 1000 as "runAt", cancel_at is not null as canceling
    from sluice.job order by id`)
  const ended = await client.query('select id, state from sluice.job_ledger')
  return { live: jobs.rows, ended: Object.fromEntries(ended.rows.map(({ id, state }) => [id, state])) }
}

async function enqueueBySql(client: pg.Client, { kind, n, key, mode, delayS, uniqueS, maxS, priority }: Ask) {
  const { rows } = await client.query(
    `select id::int, created from sluice.enqueue($1, jsonb_build_object('n', $2::int), key => $3, mode => $4, delay => $5 * interval '1 s',
                                                 unique_for => $6 * interval '1 s', debounce_max => $7 * interval '1 s', priority => $8)`,
    [kind, n, key, mode, delayS, uniqueS, maxS, priority],
  )
  return rows[0] as { id: number; created: boolean }
}

async function enqueueByClient(client: pg.Client, { kind, n, key, mode, delayS, uniqueS, maxS, priority }: Ask) {
  const ms = { delay: delayS, uniqueFor: uniqueS, debounceMax: maxS }
  const given = Object.entries({ key, dedupe: mode, ...ms }).filter(([, value]) => value !== undefined)
  const options = Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'number' ? value * 1_000 : value]))
  const request = encodeRequest(
    { kind, payload: { n }, options: { ...(options as JobOptions), priority } },
    { payloadBytesMax: 1_000 },
  )
  const [made] = await enqueueOn(client, [request], false)
  return made as { id: number; created: boolean }
}

/** Notes each change of state, and each departure to the ledger, as the tables see it. */
async function watchMoves(client: pg.Client): Promise<void> {
  await client.query(`
    create table test_move ("from" text, "to" text);
    create function test_note() returns trigger language plpgsql as $$
      declare
        was text := sluice.state_of(old.shelf, old.worker);
        is_now text := sluice.state_of(new.shelf, new.worker);
      begin
        if was <> is_now then insert into test_move values (was, is_now); end if;
        return null;
      end $$;
    create trigger test_note after update on sluice.job for each row execute function test_note()`)
}
