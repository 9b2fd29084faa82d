/**
 * What people do to jobs from outside: cancel, retry, discard, pause a kind, a pool, a lane or an owner.
 */
import sql from 'sql-template-tag'
import { changeLane, changeOwner } from '../lane/change.ts'
import type { Executor } from '../postgres/client.ts'
import { SluiceError } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'
import { checkText } from '../support/text.ts'
import { withDays } from './missing-day.ts'

export type CancelAnswer = 'canceled' | 'requested' | 'not live'

export interface CancelRequest {
  readonly reason?: string | undefined
  /** Hears of each claim that was asked to stop. Those of this process need not wait for the notification. */
  readonly onRequested?: (id: number, fence: number) => void
}

/** A job that runs is asked to stop: its handler's signal is aborted, in whatever process it runs. */
export async function cancelJobs(
  on: Executor,
  ids: readonly number[],
  { reason, onRequested, below = false }: CancelRequest & { readonly below?: boolean } = {},
): Promise<Map<number, CancelAnswer>> {
  checkText('reason', reason)
  const answers = new Map<number, CancelAnswer>(ids.map((id) => [id, 'not live']))
  const cancel = async (these: readonly number[], patient: boolean): Promise<number[]> => {
    const { rows } = await withDays(on, () =>
      on.query<{ id: number; answer: CancelAnswer | 'busy'; fence: number | null }>(
        sql`select id, answer, fence from sluice.cancel(${[...these]}::bigint[], ${reason ?? null}, ${below}, ${patient})`,
      ),
    )
    for (const { id, answer, fence } of rows) {
      if (answer !== 'busy') answers.set(Number(id), answer)
      if (fence !== null) onRequested?.(Number(id), Number(fence))
    }
    return rows.flatMap(({ id, answer }) => (answer === 'busy' ? Number(id) : []))
  }
  // Each of these may take as long as the write of a handler: nobody else is kept waiting for it.
  for (const busy of await cancel(ids, false)) await cancel([busy], true)
  return answers
}

/**
 * The job and everything below it. A parent that runs is told, and takes its children along when it ends well all the same; one that ended
 * between the look and the cancel has left children, so it looks until there is nobody new.
 */
export async function cancelTree(on: Executor, id: number, request: CancelRequest = {}): Promise<Map<number, CancelAnswer>> {
  const answers = new Map<number, CancelAnswer>()
  for (let fresh = [id]; fresh.length > 0; ) {
    for (const [told, answer] of await cancelJobs(on, fresh, { ...request, below: true })) answers.set(told, answer)
    fresh = (await findSubtree(on, id)).filter((one) => !answers.has(one))
  }
  return answers
}

/** The live jobs below `id`, found by climbing from each live job of the same tree; ancestors may be in the ledger already. */
async function findSubtree(on: Executor, id: number): Promise<number[]> {
  const { rows } = await on.query<{ id: number }>(sql`
    with recursive
    tree as (
      select coalesce((select coalesce(j.root, j.id) from sluice.job j where j.id = ${id}),
                      (select coalesce(l.root, l.id) from sluice.job_ledger l where l.id = ${id})) as root),
    climb (leaf, at) as (
      select j.id, j.parent from sluice.job j where j.root = (select root from tree)
      union all
      select c.leaf, coalesce((select j.parent from sluice.job j where j.id = c.at), (select l.parent from sluice.job_ledger l where l.id = c.at))
      from climb c
      where c.at is not null and c.at <> ${id})
    select distinct leaf as id from climb where at = ${id}
    union
    select j.id from sluice.job j where j.id = ${id}
    order by 1`)
  return rows.map((row) => Number(row.id))
}

export type RetryAnswer = 'retried' | 'not failed' | 'conflict'

export async function retryJobs(on: Executor, ids: readonly number[]): Promise<Map<number, RetryAnswer>> {
  const { rows } = await on.query<{ id: number; answer: RetryAnswer }>(
    sql`select id, answer from sluice.retry(${[...ids]}::bigint[])`,
  )
  return new Map(rows.map(({ id, answer }) => [Number(id), answer]))
}

export async function discardJobs(on: Executor, ids: readonly number[]): Promise<number> {
  const { rows } = await withDays(on, () =>
    on.query<{ discard: number }>(sql`select sluice.discard(${[...ids]}::bigint[]) as discard`),
  )
  return rows[0]?.discard ?? 0
}

export interface PauseTarget {
  readonly scope: 'kind' | 'pool' | 'lane' | 'owner'
  readonly name: string
}

/** Holds from the moment it commits: every claim of every process reads it. Jobs that run go on. */
export async function pauseTarget(on: Executor, target: PauseTarget, reason?: string): Promise<void> {
  const { scope, name } = checkTarget('pause', target, ['scope', 'name'])
  checkText('reason', reason)
  if (scope === 'lane' || scope === 'owner') return changePause(on, { scope, name }, reason ?? 'paused')
  // A name with a typing error would be paused, and the one that was meant would run on.
  const { rows } = await on.query(sql`
    insert into sluice.pause (scope, name, reason)
    select ${scope}, ${name}, ${reason ?? null}::text
    where case when ${scope}::text = 'kind' then exists (select from sluice.kind k where k.name = ${name})
               else exists (select from sluice.list_pools(0) p where p.name = ${name}) end
    on conflict (scope, name) do update set reason = excluded.reason
    returning pg_notify('sluice', 'pause:')`)
  if (rows.length > 0) return
  throw scope === 'kind' ? new SluiceError('UNKNOWN_KIND', { kind: name }) : new SluiceError('UNKNOWN_POOL', { name })
}

/** Answers it. */
function checkTarget(act: 'pause' | 'resume', target: PauseTarget, parts: readonly string[]): PauseTarget {
  checkOptions(act, target, parts)
  const { scope, name } = target
  if (!['kind', 'pool', 'lane', 'owner'].includes(scope))
    throw new SluiceError('INVALID_OPTION', { field: 'scope', problem: `is kind, pool, lane or owner, and not "${scope}"` })
  if (!checkText('name', name))
    throw new SluiceError('INVALID_OPTION', { field: 'name', problem: `is missing; give that of the ${scope}` })
  return target
}

/** Claims see it at once; jobs that had stepped aside are brought back by the leader, which is told here. Takes a pause as it is listed, too. */
export async function resumeTarget(on: Executor, target: PauseTarget): Promise<boolean> {
  const { scope, name } = checkTarget('resume', target, ['scope', 'name', 'reason', 'since'])
  if (scope === 'lane' || scope === 'owner') {
    const paused = (await listPauses(on)).some((pause) => pause.scope === scope && pause.name === name)
    if (paused) await changePause(on, { scope, name }, null)
    return paused
  }
  const { rows } = await on.query(sql`
    delete from sluice.pause where scope = ${scope} and name = ${name}
    returning pg_notify('sluice', 'pause:'), pg_notify('sluice', 'ready:*'), pg_notify('sluice', 'turn:*')`)
  return rows.length > 0
}

/** Only the row of the lane or owner changes, however many jobs wait behind it. */
async function changePause(on: Executor, { scope, name }: PauseTarget, reason: string | null): Promise<void> {
  if (scope === 'lane') await changeLane(on, name, { paused: reason })
  else await changeOwner(on, name, { paused: reason })
}

export interface Pause extends PauseTarget {
  readonly reason: string | null
  readonly since: Date
}

export async function listPauses(on: Executor): Promise<Pause[]> {
  const { rows } = await on.query<Pause>(sql`
    select scope, name, reason, since from sluice.pause
    union all select 'lane', key, paused, paused_at from sluice.lane where paused is not null
    union all select 'owner', name, paused, paused_at from sluice.owner where paused is not null
    order by 1, 2`)
  return rows
}
