/**
 * API keys: made, shown, revoked and checked.
 *
 * Every check reads the key's row by its primary key, a fraction of a millisecond, and nothing is remembered between: a revoked key is out in every process
 * with the next call. When it was last used is written at most once a minute, by whoever comes first.
 */
import { type Engine, type Listed, type Page, Sealed, SluiceError } from '@sluice/engine'
import sql from 'sql-template-tag'
import { z } from 'zod'
import { type Role, roles } from './caller.ts'
import { digest, type KeyParts, makeKeyParts, matches, readKey, writeKey } from './key-text.ts'
import { readNumbered, toPage } from './page.ts'
import type { RefusalCode } from './refusal.ts'

export interface NewKey {
  /** What it is for, so that people know which one to revoke. */
  readonly name: string
  readonly role: Role
  readonly expiresAt?: Date | undefined
}

export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly state: 'active' | 'expired' | 'revoked'
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** To the minute. */
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

/** A key that was just made. Its text exists nowhere else: show it once, with `text.reveal()`. */
export interface MadeKey extends ApiKey {
  readonly text: Sealed
}

export type CheckedKey =
  | { readonly ok: true; readonly key: ApiKey }
  | { readonly ok: false; readonly code: Extract<RefusalCode, `KEY_${string}`>; readonly id: string | undefined }

const wanted = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1, 'must say what the key is for')
    .max(200)
    .refine((name) => name.isWellFormed() && !/\p{Cc}/u.test(name), 'must be plain text without control characters'),
  role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }),
  expiresAt: z.date({ error: 'must be a date' }).optional(),
})

const columns = sql`
  id, name, role, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt",
  case when revoked_at is not null then 'revoked' when expires_at <= sluice.now() then 'expired' else 'active' end as state`

export class Keys {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async create(given: NewKey): Promise<MadeKey> {
    const { name, role, expiresAt } = readNewKey(given)
    const parts = makeKeyParts()
    const { rows } = await this.#engine.query<ApiKey>(sql`
      insert into sluice.api_key (id, name, role, secret_hash, expires_at)
      select ${parts.id}, ${name}, ${role}, ${digest(parts.secret)}, ${expiresAt ?? null}::timestamptz
      where ${expiresAt ?? null}::timestamptz is null or ${expiresAt ?? null}::timestamptz > sluice.now()
      returning ${columns}`)
    const [key] = rows
    if (!key) throw new SluiceError('INVALID_OPTION', { field: 'expiresAt', problem: 'lies in the past' })
    return made(key, parts)
  }

  /** An admin's key for a server that has never had one: made once in the life of a database, however many processes start. */
  async firstAdminKey(): Promise<MadeKey | undefined> {
    const parts = makeKeyParts()
    const { rows } = await this.#engine.query<ApiKey>(sql`
      insert into sluice.api_key (id, name, role, secret_hash, first)
      select ${parts.id}, 'first admin', 'admin', ${digest(parts.secret)}, true
      where not exists (select from sluice.api_key)
      on conflict (first) where first do nothing
      returning ${columns}`)
    return rows[0] && made(rows[0], parts)
  }

  /** Newest first, revoked and expired ones included. */
  async list(page: Page = {}): Promise<Listed<ApiKey>> {
    const { before, limit } = readNumbered('keys', page)
    const { rows } = await this.#engine.query<ApiKey & { number: number }>(sql`
      select ${columns}, number
      from sluice.api_key
      where number < ${before}
      order by number desc
      limit ${limit + 1}`)
    const { items, next } = toPage('keys', rows, limit, ({ number }) => number)
    return { items: items.map(shown), next }
  }

  /** Holds everywhere from the next call on, and ends the sessions that were opened with it. Answers whether the key was good until then. */
  async revoke(id: string): Promise<boolean> {
    const { rows } = await this.#engine.query(sql`
      with revoked as (
        update sluice.api_key
        set revoked_at = sluice.now()
        where id = ${id} and revoked_at is null
        returning id),
      ended as (
        delete from sluice.session s
        using revoked r
        where s.key = r.id)
      select from revoked`)
    return rows.length > 0
  }

  async check(text: string): Promise<CheckedKey> {
    const parts = readKey(text)
    if (!parts) return { ok: false, code: 'KEY_INVALID', id: undefined }
    const { rows } = await this.#engine.query<ApiKey & { hash: Buffer; unseen: boolean }>(sql`
      select ${columns}, secret_hash as hash, last_used_at > sluice.now() - interval '1 minute' is not true as unseen
      from sluice.api_key
      where id = ${parts.id}`)
    const [row] = rows
    if (!matches(parts.secret, row?.hash) || !row) return { ok: false, code: 'KEY_INVALID', id: parts.id }
    if (row.state === 'revoked') return { ok: false, code: 'KEY_REVOKED', id: parts.id }
    if (row.state === 'expired') return { ok: false, code: 'KEY_EXPIRED', id: parts.id }
    if (row.unseen) await this.#seen(row.id)
    return { ok: true, key: shown(row) }
  }

  /** Of many that come at once, one writes and the others pass by. */
  async #seen(id: string): Promise<void> {
    await this.#engine.query(sql`
      update sluice.api_key
      set last_used_at = sluice.now()
      where id = any(array(
        select k.id
        from sluice.api_key k
        where k.id = ${id} and k.last_used_at > sluice.now() - interval '1 minute' is not true
        for no key update skip locked))`)
  }
}

/** Without what else was read with it. */
function shown({ id, name, role, state, createdAt, expiresAt, lastUsedAt, revokedAt }: ApiKey): ApiKey {
  return { id, name, role, state, createdAt, expiresAt, lastUsedAt, revokedAt }
}

function made(key: ApiKey, parts: KeyParts): MadeKey {
  return { ...key, text: new Sealed(writeKey(parts)) }
}

function readNewKey(given: NewKey): NewKey {
  const checked = wanted.safeParse(given)
  if (checked.success) return checked.data
  const issue = checked.error.issues[0]
  throw new SluiceError('INVALID_OPTION', { field: issue?.path.join('.') || 'key', problem: issue?.message ?? 'not usable' })
}
