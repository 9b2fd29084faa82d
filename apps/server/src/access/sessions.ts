/**
 * Sessions: people who signed in with a key and now have a cookie. A session can do what its key can do at that moment, and ends with it.
 *
 * Like a key, it is looked up each time, so ending it holds everywhere at once. Its token is stored as a hash. That somebody was seen is written at most once a
 * minute.
 */
import { type Engine, Sealed } from '@sluice/engine'
import sql from 'sql-template-tag'
import type { Caller, Role } from './caller.ts'
import { digest, makeToken } from './key-text.ts'

export interface SessionLimits {
  readonly sessionMinutesMax: number
  readonly sessionIdleMinutesMax: number
}

/** A person who goes on signing in ends the oldest of these. */
const sessionsPerKeyMax = 100
const sweptMax = 100

export class Sessions {
  readonly #engine: Engine
  readonly #limits: SessionLimits

  constructor(engine: Engine, limits: SessionLimits) {
    this.#engine = engine
    this.#limits = limits
  }

  /** For a key that was just checked. */
  async open(key: string): Promise<Sealed> {
    const token = makeToken()
    await this.#engine.query(sql`
      insert into sluice.session (token_hash, key, expires_at)
      select ${digest(token)}, k.id, least(sluice.now() + ${this.#limits.sessionMinutesMax} * interval '1 minute', k.expires_at)
      from sluice.api_key k
      where k.id = ${key} and k.revoked_at is null`)
    await this.#sweep(key)
    return new Sealed(token)
  }

  async find(token: string): Promise<Caller | undefined> {
    const { rows } = await this.#engine.query<{ id: string; name: string; role: Role; unseen: boolean }>(sql`
      select k.id, k.name, k.role, s.seen_at < sluice.now() - interval '1 minute' as unseen
      from sluice.session s
      join sluice.api_key k on k.id = s.key
      where s.token_hash = ${digest(token)}
        and s.expires_at > sluice.now()
        and s.seen_at > sluice.now() - ${this.#limits.sessionIdleMinutesMax} * interval '1 minute'
        and k.revoked_at is null
        and k.expires_at <= sluice.now() is not true`)
    const [row] = rows
    if (!row) return undefined
    const { id, name, role, unseen } = row
    if (unseen) await this.#seen(token)
    return { kind: 'session', role, id, name }
  }

  /** Answers whether there was one. */
  async end(token: string): Promise<boolean> {
    const { rows } = await this.#engine.query(sql`delete from sluice.session where token_hash = ${digest(token)} returning key`)
    return rows.length > 0
  }

  /** Of many that come at once, one writes and the others pass by. */
  async #seen(token: string): Promise<void> {
    await this.#engine.query(sql`
      update sluice.session
      set seen_at = sluice.now()
      where token_hash = any(array(
        select s.token_hash
        from sluice.session s
        where s.token_hash = ${digest(token)} and s.seen_at < sluice.now() - interval '1 minute'
        for no key update skip locked))`)
  }

  async #sweep(key: string): Promise<void> {
    await this.#engine.query(sql`
      delete from sluice.session
      where token_hash = any(array(
              select s.token_hash
              from sluice.session s
              where s.expires_at <= sluice.now()
              order by s.expires_at
              limit ${sweptMax}
              for update skip locked))
         or token_hash = any(array(
              select s.token_hash
              from sluice.session s
              where s.key = ${key}
              order by s.created_at desc
              offset ${sessionsPerKeyMax}))`)
  }
}
