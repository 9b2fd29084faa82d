/**
 * What the facts mean: pure judgements, each with the fix. The limits are where a system that works well never gets to.
 */
import type { Dispatch, Health, SeenWorker } from '@sluice/engine'
import type { ApiKey } from '@sluice/server'
import { span } from '../terminal/times.ts'
import { findGoneLeader } from '../workers/gone-leader.ts'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly fix?: string
}

const clockWarnMs = 1_000
const clockFailMs = 30_000
const snapshotWarnMs = 60_000
const snapshotFailMs = 3_600_000
const transactionWarnMs = 10_000
const leaseOverMs = 60_000
/** Who hears no wake-ups beats every second. */
const deafBeatMsMax = 3_000
const deadRowsMax = 100_000
const bloatRatio = 10
const spaceWarnBytes = 1_000_000_000
const spaceFailBytes = 100_000_000

/** `nowMs` by this machine's clock. */
export function judgeHealth(health: Health, workers: readonly SeenWorker[], nowMs: number): Finding[] {
  return [
    judgeServer(health),
    judgeClock(health),
    judgeBloat(health),
    judgeSnapshot(health),
    judgeTransactions(health),
    judgeLedger(health),
    judgeLeases(health),
    judgeLeader(health, workers, nowMs + health.clockAheadMs),
    judgeWakeUps(health, workers, nowMs + health.clockAheadMs),
  ]
}

/** Nothing: there is no address of one. */
export function judgeRedis(dispatch: Dispatch | undefined): Finding {
  if (!dispatch)
    return {
      check: 'Redis',
      state: 'ok',
      text: 'not configured here; processes that are not given an address either let PostgreSQL do it all',
    }
  if (dispatch.by !== 'redis')
    return {
      check: 'Redis',
      state: 'warn',
      text: `${dispatch.instead ?? 'it is not used'}; as long as it does not answer, PostgreSQL hands out the jobs`,
      fix: 'Start it, or correct the address: --redis, REDIS_URL. docs/redis.md',
    }
  const told = dispatch.pools.map(
    ({ pool, length, lag, pending, parked, delayed, takenOver }) =>
      `${pool}: ${length} in streams (${lag} waiting, ${pending} pending), ${parked} parked, ${delayed} delayed, ${takenOver} taken over`,
  )
  const without = dispatch.processes.filter(({ by }) => by === 'postgres')
  if (without.length > 0)
    return {
      check: 'Redis',
      state: 'warn',
      text: [
        ...without.map(
          ({ name, instead, since }) => `answers here, but not ${name}, since ${since.toISOString()}: ${instead ?? ''}`,
        ),
        ...told,
      ].join('\n'),
      fix: 'Look at the network between these processes and Redis, and at the address they were given.',
    }
  return {
    check: 'Redis',
    state: 'ok',
    text: ['answers, and hands out the jobs of processes that were given its address', ...told].join('\n'),
  }
}

function judgeServer({ server }: Health): Finding {
  const text = `PostgreSQL ${server.version}, ${server.connections} of ${server.connectionsMax} connections`
  if (!server.autovacuum)
    return {
      check: 'database',
      state: 'fail',
      text: `${text}; autovacuum is off`,
      fix: 'alter system set autovacuum = on; select pg_reload_conf();',
    }
  if (server.connections > 0.9 * server.connectionsMax)
    return { check: 'database', state: 'warn', text, fix: 'Raise max_connections, or start fewer processes.' }
  return { check: 'database', state: 'ok', text }
}

function judgeClock({ clockAheadMs }: Health): Finding {
  const off = Math.abs(clockAheadMs)
  const text =
    off < clockWarnMs ? 'as that of the database' : `${span(off)} ${clockAheadMs > 0 ? 'behind' : 'ahead of'} the database`
  const fix =
    'Let both machines set their clocks by the network (NTP). Work is timed by the database, but people read these clocks.'
  return off < clockWarnMs
    ? { check: 'clock', state: 'ok', text }
    : { check: 'clock', state: off < clockFailMs ? 'warn' : 'fail', text, fix }
}

function judgeBloat({ jobTable: { live, dead, bytes, vacuumedAt } }: Health): Finding {
  const text = `${live.toLocaleString('en')} live and ${dead.toLocaleString('en')} dead rows in ${sizeOf(bytes)}`
  if (dead < deadRowsMax || dead < bloatRatio * live) return { check: 'bloat', state: 'ok', text }
  const since = vacuumedAt ? '' : ', never vacuumed'
  return {
    check: 'bloat',
    state: 'warn',
    text: `${text}${since}`,
    fix: 'End what holds old snapshots (see below), then: vacuum analyze sluice.job;',
  }
}

function judgeSnapshot({ oldestSnapshot: oldest }: Health): Finding {
  if (!oldest || oldest.ageMs < snapshotWarnMs) return { check: 'snapshots', state: 'ok', text: 'none is old' }
  return {
    check: 'snapshots',
    state: oldest.ageMs < snapshotFailMs ? 'warn' : 'fail',
    text: `"${oldest.application}" (process ${oldest.pid}, ${oldest.state}) has held one for ${span(oldest.ageMs)}`,
    fix: `Nothing that died since can be cleared away. End it: select pg_terminate_backend(${oldest.pid});`,
  }
}

function judgeTransactions({ openTransactions }: Health): Finding {
  const check = 'transactions'
  const old = openTransactions.filter(({ ageMs }) => ageMs >= transactionWarnMs)
  if (old.length === 0) return { check, state: 'ok', text: 'none is kept open over jobs, lanes or runs' }
  const text = old.map(
    ({ application, pid, state, ageMs, over }) =>
      `"${application}" (process ${pid}, ${state}) has kept one open for ${span(ageMs)} over ${over.join(', ')}`,
  )
  const ends = old.map(({ pid }) => `select pg_terminate_backend(${pid});`)
  return {
    check,
    state: 'warn',
    text: text.join('\n'),
    fix: `What they hold neither starts nor ends. Let them commit or roll back, or end them: ${ends.join(' ')}`,
  }
}

function judgeLedger({ ledgerDaysAhead: days }: Health): Finding {
  if (days >= 2) return { check: 'ledger', state: 'ok', text: `has partitions for ${days} days from today` }
  return {
    check: 'ledger',
    state: 'warn',
    text: days === 0 ? 'has no partition for today; the first finished job makes one' : 'has a partition for today only',
    fix: 'The leader makes them ahead. Start `sluice scheduler` or `sluice up`.',
  }
}

function judgeLeases({ lostWorkers, orphans }: Health): Finding {
  const stuck = lostWorkers.filter(({ overMs = Number.POSITIVE_INFINITY }) => overMs > leaseOverMs)
  if (stuck.length === 0 && orphans.count === 0) return { check: 'leases', state: 'ok', text: 'none is stuck' }
  const text = [
    stuck.length > 0 ? `over for long: ${stuck.map(({ name }) => name).join(', ')}` : '',
    orphans.count > 0 ? `${orphans.count}${orphans.more ? '+' : ''} jobs run in no process` : '',
  ]
  return {
    check: 'leases',
    state: 'fail',
    text: text.filter((part) => part !== '').join('; '),
    fix: 'The leader gives these jobs to others. Start `sluice scheduler` or `sluice up`.',
  }
}

function judgeLeader({ leader }: Health, workers: readonly SeenWorker[], nowMs: number): Finding {
  const gone = findGoneLeader(leader, workers, nowMs)
  if (gone)
    return {
      check: 'leader',
      state: gone.stuck ? 'fail' : 'warn',
      text: `leadership is held until ${gone.until.toISOString()} by a process that is gone`,
      fix: gone.stuck
        ? 'Let it go, and whoever may lead takes over within seconds: update sluice.leader set until = sluice.now();'
        : 'Another `sluice scheduler` or `sluice up` takes over then.',
    }
  if (leader.worker !== undefined)
    return { check: 'leader', state: 'ok', text: `${leader.name ?? leader.worker}, term ${leader.term}` }
  const isEmpty = workers.every(({ state }) => state === 'lost')
  return {
    check: 'leader',
    state: isEmpty ? 'warn' : 'fail',
    text: isEmpty ? 'no process runs' : 'nobody leads: delayed jobs, schedules and rescues wait',
    fix: 'Start `sluice scheduler` or `sluice up`.',
  }
}

/** A process that was killed counts as alive until its lease is over, and listens no more; it is told from one behind a pooler by its heartbeat. */
function judgeWakeUps({ listeners }: Health, workers: readonly SeenWorker[], nowMs: number): Finding {
  const living = workers.filter(({ state }) => state !== 'lost')
  const alive = living.length
  if (listeners >= alive)
    return {
      check: 'wake-ups',
      state: 'ok',
      text: alive === 0 ? 'nobody to wake' : alive === 1 ? 'the process listens' : `all ${alive} processes listen`,
    }
  const silent = living.filter(({ beatAt }) => nowMs - beatAt.getTime() > deafBeatMsMax)
  const quiet = silent.map(({ name, beatAt }) => `${name} was last heard of ${span(nowMs - beatAt.getTime())} ago`)
  const others = silent.length === 0 ? ['the others look once a second'] : quiet
  return {
    check: 'wake-ups',
    state: 'warn',
    text: [`${listeners} of ${alive} processes listen`, ...others].join('; '),
    fix: silent.length === 0 ? pooled : silent.length === alive ? killed : `${killed} If that changes nothing: ${pooled}`,
  }
}

const killed =
  'A process that was killed counts until its lease is over: look again in some seconds, and start another one if none is left.'
const pooled =
  'A pooler in transaction mode swallows notifications. Give the address of PostgreSQL itself, or a pool in session mode.'

/** What a running server asks for is its own configuration; this is the one of the command. */
export function judgeKeys(requireKeys: boolean, keys: readonly ApiKey[]): Finding {
  const active = keys.filter(({ state }) => state === 'active')
  const expired = keys.filter(({ state }) => state === 'expired')
  const counts = `${active.length} active${expired.length > 0 ? `, ${expired.length} expired (${expired.map(({ name }) => name).join(', ')})` : ''}`
  const text = `${requireKeys ? 'required' : 'not required on this machine'}, as configured here; ${counts}`
  if (!requireKeys) return { check: 'keys', state: 'ok', text }
  if (!active.some(({ role }) => role === 'admin'))
    return { check: 'keys', state: 'fail', text: `${text}, none of them an admin's`, fix: 'sluice keys create NAME --role admin' }
  if (expired.length > 0) return { check: 'keys', state: 'warn', text, fix: 'Make new ones, then `sluice keys revoke ID`.' }
  return { check: 'keys', state: 'ok', text }
}

/** `mode` is undefined when there is no such file. */
export function judgeMasterKey({
  fromVariable,
  mode,
  file,
}: {
  fromVariable: boolean
  mode: number | undefined
  file: string
}): Finding {
  if (fromVariable) return { check: 'master key', state: 'ok', text: 'from SLUICE_MASTER_KEY' }
  if (mode === undefined) return { check: 'master key', state: 'ok', text: 'none yet; secrets are off' }
  const loose = mode & 0o077
  if (loose === 0) return { check: 'master key', state: 'ok', text: `${file}, for its owner only` }
  return {
    check: 'master key',
    state: 'fail',
    text: `others can read ${file} (mode ${(mode & 0o777).toString(8)})`,
    fix: `chmod 600 ${file}`,
  }
}

export function judgeSpace(folder: string, freeBytes: number): Finding {
  const text = `${sizeOf(freeBytes)} free in ${folder}`
  if (freeBytes >= spaceWarnBytes) return { check: 'space', state: 'ok', text }
  return { check: 'space', state: freeBytes >= spaceFailBytes ? 'warn' : 'fail', text, fix: 'Make room, or lower --keep-days.' }
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

export function sizeOf(bytes: number): string {
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** step
  return `${value < 10 && step > 0 ? value.toFixed(1) : Math.round(value)} ${units[step] ?? 'bytes'}`
}
