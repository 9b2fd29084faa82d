/**
 * Chaos: revoked tokens, and troubles by script. Rules are tried in the order they were given; the first that fits is used up
 * by one and decides, except that latency lets the next rules have their say.
 */
import type { LoginAttempts } from '../token/login-attempts.ts'
import { inventToken, type Tokens } from '../token/tokens.ts'
import { createRandom, type Random } from '../world/random.ts'
import type { World } from '../world/world.ts'
import { type ChaosRule, chaosRule, isHit, type ParsedRule, type Target } from './rule.ts'

interface Loaded {
  readonly rule: ParsedRule
  left: number
}

export class Chaos {
  readonly #world: World
  readonly #tokens: Tokens
  readonly #attempts: LoginAttempts
  readonly #random: Random
  #rules: Loaded[] = []

  constructor(world: World, tokens: Tokens, attempts: LoginAttempts) {
    this.#world = world
    this.#tokens = tokens
    this.#attempts = attempts
    this.#random = createRandom(world.seed, 'chaos')
  }

  /** Every token of the account is refused from now on. Says which. */
  revoke(login: string): string[] {
    const live = this.#tokens.of(this.#id(login)).filter(({ revoked }) => !revoked)
    for (const known of live) known.revoked = true
    return live.map(({ token }) => token)
  }

  /** Gives the account a token again: a new one that is named, or the last one it had. Forgives failed attempts. */
  reinstate(login: string, token?: string): string {
    const id = this.#id(login)
    this.#attempts.forgive(id)
    const last = this.#tokens.newestOf(id)
    if (token === undefined && last) {
      last.revoked = false
      return last.token
    }
    return this.#tokens.issue(id, token ?? inventToken(this.#world.seed, login)).token
  }

  /** One more token for the account; `none` has no right to any repository. */
  issueToken(login: string, token: string, rights: 'all' | 'none' = 'all'): string {
    return this.#tokens.issue(this.#id(login), token, rights).token
  }

  script(rule: ChaosRule): void {
    const parsed = chaosRule.parse(rule)
    this.#rules.push({ rule: parsed, left: parsed.times ?? Number.POSITIVE_INFINITY })
  }

  clear(): void {
    this.#rules = []
  }

  /** What happens to this request, latency first. */
  meet(target: Target): ParsedRule[] {
    if (this.#rules.length === 0) return []
    const met: ParsedRule[] = []
    for (const loaded of this.#rules) {
      const { rule } = loaded
      if (loaded.left <= 0 || !isHit(rule, target)) continue
      if (rule.probability !== undefined && !this.#random.chance(rule.probability)) continue
      loaded.left--
      met.push(rule)
      if (rule.trouble !== 'latency') break
    }
    this.#rules = this.#rules.filter(({ left }) => left > 0)
    return met
  }

  #id(login: string): number {
    const account = this.#world.byLogin(login)
    if (!account) throw new Error(`Nobody here is called ${login}.`)
    return account.id
  }
}
