/**
 * Secrets as the database knows them: names and sealed text.
 */
import sql from 'sql-template-tag'
import type { Executor, QueryClient } from '../postgres/client.ts'

/** A secret without its value. */
export interface StoredSecret {
  readonly name: string
  /** The master key that it takes. */
  readonly keyId: string
  readonly createdAt: Date
  /** When its value was last put. */
  readonly updatedAt: Date
}

export interface SealedRow {
  readonly name: string
  readonly sealed: string
}

/** On a client of the caller's it is one with the caller's transaction. */
export async function storeSecret(on: Executor, row: SealedRow, keyId: string, client?: QueryClient): Promise<void> {
  const statement = sql`
    insert into sluice.secret (name, sealed, key_id)
    values (${row.name}, ${row.sealed}, ${keyId})
    on conflict (name) do update
    set sealed = excluded.sealed, key_id = excluded.key_id, updated_at = sluice.now()`
  await (client ? client.query(statement.text, statement.values) : on.query(statement))
}

export async function findSecret(on: Executor, name: string): Promise<string | undefined> {
  const { rows } = await on.query<SealedRow>(sql`select sealed from sluice.secret where name = ${name}`)
  return rows[0]?.sealed
}

export async function removeSecret(on: Executor, name: string): Promise<boolean> {
  const { rows } = await on.query(sql`delete from sluice.secret where name = ${name} returning name`)
  return rows.length > 0
}

export async function listSecrets(on: Executor, after: string, limit: number): Promise<StoredSecret[]> {
  const { rows } = await on.query<StoredSecret>(sql`
    select name, key_id as "keyId", created_at as "createdAt", updated_at as "updatedAt"
    from sluice.secret
    where name > ${after}
    order by name
    limit ${limit}`)
  return rows
}

/** Those that another key has sealed, in the order of their names. */
export async function listSealedByOthers(on: Executor, keyId: string, after: string, limit: number): Promise<SealedRow[]> {
  const { rows } = await on.query<SealedRow>(sql`
    select name, sealed
    from sluice.secret
    where key_id <> ${keyId} and name > ${after}
    order by name
    limit ${limit}`)
  return rows
}

/** Nothing happens if somebody has put another value, or removed it, since `was` was read. */
export async function resealSecret(on: Executor, name: string, was: string, sealed: string, keyId: string): Promise<boolean> {
  const { rows } = await on.query(sql`
    update sluice.secret
    set sealed = ${sealed}, key_id = ${keyId}
    where name = ${name} and sealed = ${was}
    returning name`)
  return rows.length > 0
}

export async function countSealedByOthers(on: Executor, keyId: string): Promise<number> {
  const { rows } = await on.query<{ count: number }>(sql`select count(*) as count from sluice.secret where key_id <> ${keyId}`)
  return rows[0]?.count ?? 0
}
