/**
 * The guard of every route: who asks, from where, and whether their role is enough. It looks at headers only, so a body that nobody may send is never
 * read.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../access/access.ts'
import { type Action, judgeRole } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { judgeOrigin } from '../access/origin.ts'
import { isRefusal, type Refusal } from '../access/refusal.ts'
import { HttpRefusal } from './problem.ts'

/** For routes that ask for no key. */
const nobody: Caller = { kind: 'local', role: 'read', id: 'nobody', name: 'nobody' }

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
      if (refusal) throw toHttp(refusal)
    }
  }

  callerOf(request: FastifyRequest): Caller {
    return this.#callers.get(request) ?? nobody
  }

  /** For routes that tell more to those who may read. */
  async mayRead(request: FastifyRequest): Promise<boolean> {
    return !isRefusal(await this.#authenticate(request))
  }

  async #authenticate(request: FastifyRequest): Promise<Caller | Refusal> {
    const caller = await this.#access.authenticate({ headers: request.headers, remoteAddress: request.socket.remoteAddress })
    if (!isRefusal(caller)) this.#callers.set(request, caller)
    return caller
  }
}

/** That changes have to be JSON is a matter of the content type here, as it is for callers who are not asked where they come from. */
function toHttp({ status, code, title, detail, retryAfterSeconds }: Refusal): HttpRefusal {
  const row = {
    status: code === 'JSON_REQUIRED' ? 415 : status,
    title,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  return new HttpRefusal({ code, row, detail })
}
