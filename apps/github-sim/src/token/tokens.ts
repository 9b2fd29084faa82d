/**
 * Who a token speaks for. Several tokens may speak for one account and share its budget; a revoked one is remembered, so
 * that calls with it can be told from calls with nonsense.
 */
import { createHash } from 'node:crypto'

export interface KnownToken {
  readonly token: string
  readonly accountId: number
  /** `none` is a fine-grained token that was given no repository. */
  readonly rights: 'all' | 'none'
  revoked: boolean
}

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** A classic token's shape: `ghp_` and 36 letters or digits, made from the words. */
export function inventToken(...words: readonly (string | number)[]): string {
  const bytes = createHash('sha512').update(words.join('\u0000')).digest()
  let token = 'ghp_'
  for (let at = 0; at < 36; at++) token += characters[(bytes[at] ?? 0) % characters.length]
  return token
}

export class Tokens {
  readonly #byToken = new Map<string, KnownToken>()
  readonly #newest = new Map<number, KnownToken>()

  issue(accountId: number, token: string, rights: KnownToken['rights'] = 'all'): KnownToken {
    const known: KnownToken = { token, accountId, rights, revoked: false }
    this.#byToken.set(token, known)
    this.#newest.set(accountId, known)
    return known
  }

  find(token: string): KnownToken | undefined {
    return this.#byToken.get(token)
  }

  /** The one that was issued last, revoked or not. */
  newestOf(accountId: number): KnownToken | undefined {
    return this.#newest.get(accountId)
  }

  of(accountId: number): KnownToken[] {
    return [...this.#byToken.values()].filter((known) => known.accountId === accountId)
  }

  all(): KnownToken[] {
    return [...this.#byToken.values()]
  }
}

/** Bearer and token schemes, and Basic with the token as password, as git and curl send it. */
export function readAuthorization(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const found = /^(bearer|token|basic)\s+(\S+)\s*$/i.exec(header)
  if (!found) return header.trim() === '' ? undefined : header
  const value = found[2] ?? ''
  if (found[1]?.toLowerCase() !== 'basic') return value
  const [user = '', password = ''] = Buffer.from(value, 'base64').toString('utf8').split(':')
  return password === '' || password === 'x-oauth-basic' ? user : password
}
