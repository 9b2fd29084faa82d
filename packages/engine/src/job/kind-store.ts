/**
 * Kinds as the database knows them: the defaults that enqueue fills in, wherever it is called from.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import type { AnyKind } from './kind.ts'

/** Two processes that register the same kinds meet the rows in the same order, and rows that are already right are left alone. */
export async function registerKinds(on: Executor, kinds: readonly AnyKind[]): Promise<void> {
  if (kinds.length === 0) return
  const rows = kinds.map((kind) => ({
    name: kind.kindName,
    pool: kind.pool,
    priority: kind.priority,
    max_attempts: kind.retry.attempts,
    dedupe: kind.dedupe ?? null,
    unique_ms: kind.uniqueForMs ?? null,
    lane: kind.lane ?? null,
    cost: kind.cost,
    asks: kind.asks,
  }))
  await on.query(sql`
    insert into sluice.kind as k (name, pool, priority, max_attempts, dedupe, unique_for, lane, cost, asks)
    select name, pool, priority, max_attempts, dedupe, unique_ms * interval '1 ms', lane, cost, asks
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as x(name text, pool text, priority smallint, max_attempts smallint, dedupe text, unique_ms double precision, lane text, cost smallint, asks text[])
    order by name
    on conflict (name) do update
    set pool = excluded.pool, priority = excluded.priority, max_attempts = excluded.max_attempts, dedupe = excluded.dedupe, unique_for = excluded.unique_for,
        lane = excluded.lane, cost = excluded.cost, asks = excluded.asks
    where (k.pool, k.priority, k.max_attempts, k.dedupe, k.unique_for, k.lane, k.cost, k.asks)
      is distinct from (excluded.pool, excluded.priority, excluded.max_attempts, excluded.dedupe, excluded.unique_for, excluded.lane, excluded.cost, excluded.asks)`)
}

/** Limits of lanes by pattern. */
export async function registerLaneClasses(on: Executor, classes: readonly object[]): Promise<void> {
  if (classes.length > 0) await on.query(sql`select sluice.register_lane_classes(${JSON.stringify(classes)}::jsonb)`)
}

export interface Settings {
  readonly priorityStepMs?: number
  readonly payloadBytesMax?: number
}

export interface StoredSettings {
  readonly priorityStepMs: number
  readonly payloadBytesMax: number
}

/** Settings given by this process are stored for all; those left out are as they are. */
export async function storeSettings(on: Executor, settings: Settings): Promise<StoredSettings> {
  await on.query(sql`
    update sluice.setting
    set priority_step_ms = coalesce(${settings.priorityStepMs ?? null}, priority_step_ms),
        payload_bytes_max = coalesce(${settings.payloadBytesMax ?? null}, payload_bytes_max)
    where (priority_step_ms, payload_bytes_max) is distinct from
      (coalesce(${settings.priorityStepMs ?? null}, priority_step_ms), coalesce(${settings.payloadBytesMax ?? null}, payload_bytes_max))`)
  const { rows } = await on.query<StoredSettings>(
    sql`select priority_step_ms as "priorityStepMs", payload_bytes_max as "payloadBytesMax" from sluice.setting`,
  )
  return rows[0] as StoredSettings
}
