/**
 * The guard of every route: who asks, from where, and whether their role is enough. It looks at headers only, so a body that nobody may send is never
 * read.
 *
 * Whoever is turned away from a change is written down, and so is every change, with how it ended. Wrong keys are written down by access itself. An entry that cannot be
 * written goes to the log instead: the deed is done by then, and to call it failed would be a lie.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../access/access.ts'
import { type Action, judgeRole } from '../access/actions.ts'
import type { Asking, Caller } from '../access/caller.ts'
import { judgeOrigin } from '../access/origin.ts'
import { isRefusal, type Refusal } from '../access/refusal.ts'
import { HttpRefusal } from './problem.ts'

/** For routes that ask for no key. */
const nobody: Caller = { kind: 'local', role: 'read', id: 'nobody', name: 'nobody' }

/** Recorded where they happen, with what is known there. */
const recordedByAccess = new Set([
  'KEY_REQUIRED',
  'KEY_INVALID',
  'KEY_EXPIRED',
  'KEY_REVOKED',
  'SESSION_ENDED',
  'TOO_MANY_FAILURES',
])

export interface Deed {
  readonly action: string
  readonly target?: string | undefined
  readonly outcome: 'done' | 'refused' | 'failed'
  readonly detail?: Readonly<Record<string, unknown>>
}

export class Guard {
  readonly #access: Access
  readonly #callers = new WeakMap<FastifyRequest, Caller>()

  constructor(access: Access) {
    this.#access = access
  }

  /** Lets through whoever may do this. */
  admit(action: Action): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
    return async (request) => {
      const caller = await this.#authenticate(request)
      const { method, headers } = request
      const refusal = isRefusal(caller) ? caller : (judgeOrigin({ method, headers, caller }) ?? judgeRole(caller, action))
      if (!refusal) return
      if (method !== 'GET' && !recordedByAccess.has(refusal.code))
        await this.record(request, { action, outcome: 'refused', detail: { code: refusal.code } })
      throw toHttp(refusal)
    }
  }

  callerOf(request: FastifyRequest): Caller {
    return this.#callers.get(request) ?? nobody
  }

  askingOf({ headers, socket }: FastifyRequest): Asking {
    return { headers, remoteAddress: socket.remoteAddress }
  }

  /** For routes that tell more to those who may read. */
  async mayRead(request: FastifyRequest): Promise<boolean> {
    return this.#authenticate(request).then(
      (caller) => !isRefusal(caller),
      () => false, // the database is away: nobody can be told apart
    )
  }

  /** For a sign-in: nobody yet, but it must come from our own page. */
  judgeStranger({ method, headers }: FastifyRequest): void {
    const refusal = judgeOrigin({ method, headers })
    if (refusal) throw toHttp(refusal)
  }

  async record(request: FastifyRequest, { action, target, outcome, detail }: Deed): Promise<void> {
    const caller = this.#callers.get(request)
    const address = request.socket.remoteAddress
    await this.#access.audit
      .record({ caller, address, action, target: target ?? targetOf(request), outcome, detail })
      .catch((error: unknown) => {
        request.log.error({ err: error, action, outcome, caller: caller?.id }, 'audit entry lost')
      })
  }

  async #authenticate(request: FastifyRequest): Promise<Caller | Refusal> {
    const caller = await this.#access.authenticate(this.askingOf(request))
    if (!isRefusal(caller)) this.#callers.set(request, caller)
    return caller
  }
}

/** What stands in the address: the id of a job, the name of a lane. */
function targetOf({ params }: FastifyRequest): string | undefined {
  const [first] = Object.values((params ?? {}) as Record<string, string | number>)
  return first === undefined ? undefined : String(first)
}

export function toHttp({ status, code, title, detail, retryAfterSeconds }: Refusal): HttpRefusal {
  const row = { status, title, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
  return new HttpRefusal({ code, row, detail })
}
