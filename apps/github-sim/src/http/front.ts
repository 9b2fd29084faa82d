/**
 * The front of both APIs: everything that GitHub does to a request before and after somebody answers it.
 *
 * In this order: user agent, API version, who is it, is there budget, secondary limits, chaos, the answer, ETag, the price,
 * headers, and a line in the oracle's log. A conditional answer is free for those who are authenticated; a redirect is not.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type BudgetState, budgetHeaders, type Payer } from '../budget/budgets.ts'
import type { ParsedRule } from '../chaos/rule.ts'
import { handleGraphql } from '../graphql/handle.ts'
import type { GraphqlTrap } from '../graphql/host.ts'
import { fingerprint, hash8 } from '../oracle/oracle.ts'
import { answer } from '../rest/answer.ts'
import type { ApiVersion, Reply } from '../rest/ask.ts'
import * as problems from '../rest/problems.ts'
import type { Simulation } from '../simulation.ts'
import { type Caller, identify } from './caller.ts'
import { etagOf, isUnchanged } from './etag.ts'
import { type Facts, type Incoming, readFacts } from './incoming.ts'
import { damageLinks, rateLimited, replyOfTrouble, trapOfTrouble, waitOfTrouble } from './trouble.ts'

export interface Outgoing {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly mischief: { readonly type: 'cut off' | 'hang up' } | { readonly type: 'huge'; readonly bytes: number } | undefined
}

/** A reply with its price. */
interface Decided {
  readonly reply: Reply
  readonly units: number
  readonly overBudget?: boolean
  readonly etagHit?: boolean
  readonly budget?: BudgetState
  readonly rule?: ParsedRule
}

interface Visit {
  readonly incoming: Incoming
  readonly facts: Facts
  readonly caller: Caller
  readonly requestId: string
  readonly inFlight: number
  readonly now: number
}

const versions: readonly string[] = ['2022-11-28', '2026-03-10']
const hugeBytes = 100_000_000
const free: readonly string[] = ['bad credentials', 'login attempts']

export class Front {
  readonly #sim: Simulation
  readonly #inFlight = new Map<Payer, number>()
  #requests = 0

  constructor(sim: Simulation) {
    this.#sim = sim
  }

  async handle(incoming: Incoming): Promise<Outgoing> {
    const { clock, oracle } = this.#sim
    const now = clock.now()
    const facts = readFacts(incoming)
    const caller = identify(this.#sim, facts, incoming.address, now)
    const inFlight = (this.#inFlight.get(caller.payer) ?? 0) + 1
    this.#inFlight.set(caller.payer, inFlight)
    const requestId = `51A1:${(++this.#requests).toString(16).toUpperCase().padStart(6, '0')}:${(now % 1e9).toString(16).toUpperCase()}`
    const sentWhileLimited = oracle.isWaiting(caller.payer, facts.resource, now)
    const afterRevocation = oracle.isRefusedAgain(facts.token, caller.type === 'refused' && caller.accountId !== null)
    const visit: Visit = { incoming, facts, caller, requestId, inFlight, now }
    try {
      const decided = await this.#decide(visit)
      const { reply, units } = decided
      oracle.record({
        at: now,
        account: caller.type === 'anonymous' ? null : caller.accountId,
        token8: facts.token === undefined ? null : hash8(facts.token),
        resource: facts.resource,
        method: incoming.method,
        path: incoming.url,
        operation: facts.operation,
        call: fingerprint(`${incoming.method} ${incoming.url} ${incoming.body}`),
        status: reply.status,
        units: caller.type === 'account' ? units : 0,
        etagHit: decided.etagHit ?? false,
        inFlight,
        overBudget: decided.overBudget ?? false,
        sentWhileLimited,
        afterRevocation,
      })
      return this.#dress(visit, decided)
    } finally {
      const left = (this.#inFlight.get(caller.payer) ?? 1) - 1
      if (left > 0) this.#inFlight.set(caller.payer, left)
      else this.#inFlight.delete(caller.payer)
    }
  }

  async #decide(arrived: Visit): Promise<Decided> {
    const { incoming, facts, caller } = arrived
    if (!incoming.headers['user-agent']) return { reply: problems.noUserAgent(), units: 0 }
    const version = incoming.headers['x-github-api-version'] ?? '2022-11-28'
    if (typeof version !== 'string' || !versions.includes(version))
      return { reply: problems.badVersion(String(version)), units: 1 }
    const met = this.#sim.chaos.meet({
      path: incoming.url,
      operation: facts.operation,
      login: caller.type === 'account' ? this.#sim.world.accounts.get(caller.accountId)?.login : undefined,
      pageSize: facts.pageSize,
    })
    const latencyMs = met.reduce((all, rule) => all + (rule.trouble === 'latency' ? (rule.ms ?? 0) : 0), this.#sim.latencyMs)
    if (latencyMs > 0) await pause(latencyMs)
    const visit = { ...arrived, now: this.#sim.clock.now() }
    if (caller.type === 'refused') return { reply: caller.reply, units: 1 }
    if (facts.api === 'graphql' && caller.type === 'anonymous') return { reply: problems.graphqlNeedsToken(), units: 1 }
    const limited = this.#limit(visit)
    if (limited) return limited
    const rule = met.find(({ trouble }) => trouble !== 'latency')
    const trap = facts.api === 'graphql' && rule ? trapOfTrouble(rule.trouble) : undefined
    const replaced = rule && !trap && this.#trouble(visit, rule)
    if (replaced) return replaced
    const decided = facts.api === 'graphql' ? await this.#graphql(visit, trap) : this.#rest(visit, version as ApiVersion)
    return rule ? { ...decided, reply: damageLinks(decided.reply, rule.trouble, `${facts.base}${incoming.url}`), rule } : decided
  }

  #limit({ facts, caller, requestId, inFlight, now }: Visit): Decided | undefined {
    const { secondary, budgets, oracle } = this.#sim
    const waitMs = secondary.check(caller.payer, facts.api, inFlight, now)
    if (waitMs !== undefined) {
      oracle.tellToWait(caller.payer, 'all', now, now + waitMs)
      return { reply: problems.secondaryLimit(Math.ceil(waitMs / 1000), requestId), units: 0 }
    }
    if (facts.path === '/rate_limit') return undefined
    const state = budgets.state(caller.payer, facts.resource, now)
    if (state.remaining > 0) return undefined
    oracle.tellToWait(caller.payer, facts.resource, now, state.resetAt)
    const reply = facts.api === 'graphql' ? rateLimited(caller.payer) : problems.primaryLimit(caller.payer)
    return { reply, units: 0, overBudget: true }
  }

  /** Paid in the same turn in which the budget was looked at, so that requests side by side cannot spend the same unit. */
  #pay({ facts, caller, now }: Visit, decided: Decided): Decided {
    return { ...decided, budget: this.#sim.budgets.charge(caller.payer, facts.resource, decided.units, now).state }
  }

  #trouble(visit: Visit, rule: ParsedRule): Decided | undefined {
    const { facts, caller, requestId, now } = visit
    const reply = replyOfTrouble(rule, { api: facts.api, payer: caller.payer, requestId, now })
    const wait = waitOfTrouble(rule)
    if (!wait) return reply && this.#pay(visit, { reply, units: free.includes(rule.trouble) ? 0 : 1 })
    const state = this.#sim.budgets.state(caller.payer, facts.resource, now)
    const until = wait.ms === undefined ? state.resetAt : now + wait.ms
    this.#sim.oracle.tellToWait(caller.payer, wait.scope === 'all' ? 'all' : facts.resource, now, until)
    return reply && { reply, units: 0, budget: wait.scope === 'all' ? state : { ...state, remaining: 0, used: state.limit } }
  }

  #rest(visit: Visit, version: ApiVersion): Decided {
    const { incoming, facts, caller, now } = visit
    const { world, budgets, deepPageMax } = this.#sim
    const { path, query, base } = facts
    const viewerId = caller.type === 'account' ? caller.accountId : undefined
    const mayRead = caller.type !== 'account' || caller.mayRead
    const asked = {
      world,
      budgets,
      deepPageMax,
      method: incoming.method,
      path,
      query,
      base,
      viewerId,
      payer: caller.payer,
      mayRead,
      version,
      now,
    }
    const reply = answer(asked)
    if (path === '/rate_limit') return { reply, units: 0 }
    if (reply.status !== 200) return this.#pay(visit, { reply, units: 1 })
    const text = JSON.stringify(reply.body)
    const etag = etagOf(incoming.headers, text)
    const headers = {
      etag,
      ...reply.headers,
      ...(reply.lastModified === undefined ? {} : { 'last-modified': new Date(reply.lastModified).toUTCString() }),
    }
    if (isUnchanged(incoming.headers, etag, reply.lastModified))
      return this.#pay(visit, { reply: { status: 304, headers }, units: viewerId === undefined ? 1 : 0, etagHit: true })
    return this.#pay(visit, { reply: { status: 200, body: text, headers }, units: 1 })
  }

  async #graphql(visit: Visit, trap: GraphqlTrap | undefined): Promise<Decided> {
    const { facts, caller, now } = visit
    if (facts.json === undefined || caller.type !== 'account')
      return { reply: { status: 400, body: { message: 'Problems parsing JSON' } }, units: 0 }
    const { accountId, mayRead } = caller
    const chaosFor = trap && (() => trap)
    const { status, body, points } = await handleGraphql(this.#sim, { accountId, mayRead, body: facts.json, now, chaosFor })
    const state = this.#sim.budgets.state(caller.payer, 'graphql', now)
    if (points <= state.remaining) return this.#pay(visit, { reply: { status, body }, units: points })
    this.#sim.oracle.tellToWait(caller.payer, 'graphql', now, state.resetAt)
    return { reply: rateLimited(caller.payer), units: 0, overBudget: true }
  }

  #dress({ incoming, facts, caller, requestId, now }: Visit, { reply, units, budget, rule }: Decided): Outgoing {
    const { budgets, clock } = this.#sim
    const state = budget ?? budgets.charge(caller.payer, facts.resource, units, now).state
    const known = caller.type === 'account'
    const text = typeof reply.body === 'string' ? reply.body : reply.body === undefined ? '' : JSON.stringify(reply.body)
    return {
      status: reply.status,
      body: text,
      headers: {
        date: new Date(clock.now()).toUTCString(),
        server: 'github-sim',
        'content-type': 'application/json; charset=utf-8',
        'cache-control': `${known ? 'private' : 'public'}, max-age=60, s-maxage=60`,
        vary: `Accept, ${known ? 'Authorization, Cookie, X-GitHub-OTP, ' : ''}Accept-Encoding, Accept, X-Requested-With`,
        'x-github-media-type': 'github.v3; format=json',
        'x-github-api-version-selected': String(incoming.headers['x-github-api-version'] ?? '2022-11-28'),
        'x-github-request-id': requestId,
        ...(known ? { 'x-oauth-scopes': caller.mayRead ? 'read:org, repo, user' : '', 'x-accepted-oauth-scopes': '' } : {}),
        ...budgetHeaders(state, this.#sim.resetJitterSeconds * ((this.#requests % 3) - 1)),
        ...reply.headers,
      },
      mischief:
        rule?.trouble === 'cut off' || rule?.trouble === 'hang up'
          ? { type: rule.trouble }
          : rule?.trouble === 'huge'
            ? { type: 'huge', bytes: rule.bytes ?? hugeBytes }
            : undefined,
    }
  }
}
