/**
 * The guard of every route: who asks, from where, and whether their role is enough. It looks at headers only, so a body that nobody may send is never
 * read.
 *
 * Refusals of changes, and every change itself, are written to the audit log; a reader who was turned away is told in the log of the server.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../access/access.ts'
import { type Caller, type Role } from '../access/caller.ts'
import { judgeOrigin } from '../access/origin.ts'
import { isRefusal, type Refusal, refuse as turnAway } from '../access/refusal.ts'
import { HttpRefusal } from './problem.ts'

type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** For routes that ask for no key. */
const nobody: Caller = { kind: 'local', role: 'read', id: 'nobody', name: 'nobody' }

export class Guard {
  readonly #access: Access
  readonly #callers = new WeakMap<FastifyRequest, Caller>()

  constructor(access: Access) {
    this.#access = access
  }

  /** Lets through whoever has this role. */
  admit(role: Role): Admit {
    return async (request) => {
      const refusal = this.#judgeOrigin(request) ?? (await this.#judgeCaller(request, role))
      if (refusal) throw toRefusal(refusal)
    }
  }

  callerOf(request: FastifyRequest): Caller {
    return this.#callers.get(request) ?? nobody
  }
}
