/**
 * Users, as the database knows them: a GitHub account by its id, with the login it has now. Tokens are not among them.
 */
import { type Executor, onClient, type TransactionClient } from '@sluice/engine'
import sql, { type Sql } from 'sql-template-tag'
import type { Strategy } from '../collection/collection.ts'
import { cut } from '../collection/cut.ts'
import { runNames } from '../request/run-names.ts'

export interface User {
  /** Of the GitHub account. */
  readonly id: number
  readonly login: string
  /** Address of the GitHub that it is an account of. */
  readonly apiUrl: string
  readonly name: string | null
  readonly tokenState: 'ok' | 'refused'
  readonly tokenRefusedAt: Date | null
  /** What GitHub said. */
  readonly tokenRefusal: string | null
  /** null: the one for all. */
  readonly strategy: Strategy | null
  readonly registeredAt: Date
  /** Newest collection of the live data, under way or ended. */
  readonly lastRun: number | null
}

/** An account as GitHub shows it. */
export interface Profile {
  readonly id: number
  readonly nodeId: string
  readonly login: string
  readonly name: string | null
  readonly followers: number | null
  readonly createdAt: string | null
}

const columns = sql`
  u.id, u.login, u.api_url as "apiUrl", u.name, u.token_state as "tokenState", u.token_refused_at as "tokenRefusedAt", u.token_refusal as "tokenRefusal", u.strategy,
  u.registered_at as "registeredAt",
  (select r.id from sluice.run r where r.kind = ${runNames.collect} and r.owner = u.id::text order by r.id desc limit 1) as "lastRun"`

export async function findUser(on: Executor, idOrLogin: number | string): Promise<User | undefined> {
  const wanted = typeof idOrLogin === 'number' ? sql`u.id = ${idOrLogin}` : sql`lower(u.login) = lower(${idOrLogin})`
  return (await select(on, sql`where ${wanted}`))[0]
}

/** What each call needs to know: whose account it is, and where. */
export async function findAccount(on: Executor, userId: number): Promise<Pick<User, 'id' | 'login' | 'apiUrl'> | undefined> {
  const { rows } = await on.query<Pick<User, 'id' | 'login' | 'apiUrl'>>(sql`
    select u.id::double precision as id, u.login, u.api_url as "apiUrl" from collector.users u where u.id = ${userId}`)
  return rows[0]
}

/** In the order of their ids. */
export async function listUsers(on: Executor, after: number, limit: number): Promise<User[]> {
  return select(on, sql`where u.id > ${after} order by u.id limit ${limit}`)
}

/** Answers false when the account is registered already. */
export async function insertUser(tx: TransactionClient, profile: Profile, apiUrl: string): Promise<boolean> {
  await freeLogin(tx, profile)
  const { rows } = await onClient(tx).query(sql`
    insert into collector.users (id, node_id, login, api_url, name, followers, account_since)
    values (${profile.id}, ${profile.nodeId}, ${profile.login}, ${apiUrl}, ${nameOf(profile)}, ${profile.followers}, ${profile.createdAt}::timestamptz)
    on conflict (id) do nothing
    returning id`)
  return rows.length > 0
}

/** What GitHub shows of the account now, a new login included. */
export async function storeProfile(tx: TransactionClient, profile: Profile): Promise<void> {
  await freeLogin(tx, profile)
  await onClient(tx).query(sql`
    update collector.users
    set node_id = ${profile.nodeId}, login = ${profile.login}, name = ${nameOf(profile)}, followers = coalesce(${profile.followers}, followers),
        account_since = coalesce(${profile.createdAt}::timestamptz, account_since)
    where id = ${profile.id}`)
}

export async function moveUser(tx: TransactionClient, userId: number, apiUrl: string): Promise<void> {
  await onClient(tx).query(sql`update collector.users set api_url = ${apiUrl} where id = ${userId}`)
}

export async function trustToken(tx: TransactionClient, userId: number): Promise<void> {
  await onClient(tx).query(sql`
    update collector.users set token_state = 'ok', token_refused_at = null, token_refusal = null, token_trusted_at = sluice.now() where id = ${userId}`)
}

/** Answers whether this was the first one to say so. */
export async function distrustToken(tx: TransactionClient, userId: number, refusal: string): Promise<boolean> {
  const { rows } = await onClient(tx).query(sql`
    update collector.users
    set token_state = 'refused', token_refused_at = sluice.now(), token_refusal = ${cut(refusal).value}
    where id = ${userId} and token_state = 'ok'
    returning id`)
  return rows.length > 0
}

/** null: the one for all. */
export async function chooseStrategy(tx: TransactionClient, userId: number, strategy: Strategy | null): Promise<void> {
  await onClient(tx).query(sql`update collector.users set strategy = ${strategy} where id = ${userId}`)
}

export async function removeUser(tx: TransactionClient, userId: number): Promise<boolean> {
  const { rows } = await onClient(tx).query(sql`delete from collector.users where id = ${userId} returning id`)
  return rows.length > 0
}

/** Somebody who had this login before has another one by now: unknown until its next profile, and no login begins with a tilde. */
async function freeLogin(tx: TransactionClient, { id, login }: Profile): Promise<void> {
  await onClient(tx).query(sql`
    update collector.users set login = '~' || id where lower(login) = lower(${login}) and id <> ${id}`)
}

async function select(on: Executor, where: Sql): Promise<User[]> {
  const { rows } = await on.query<User>(sql`select ${columns} from collector.users u ${where}`)
  return rows.map((row) => ({ ...row, id: Number(row.id), lastRun: row.lastRun === null ? null : Number(row.lastRun) }))
}

function nameOf({ name }: Profile): string | null {
  return name === null ? null : cut(name).value
}
