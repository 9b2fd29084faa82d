/**
 * Access: tells who asks. The one place where a request becomes a caller, whatever it brings along.
 *
 * A key in the Authorization header comes first, then the cookie of a session, then, where no keys are asked for, being on this machine. Whoever brings a key
 * is judged by it: a wrong one is refused also where none is needed.
 */
import type { Engine } from '@sluice/engine'
import { isLoopback, judgeForwarding, judgeHost } from './address.ts'
import { type Asking, type Caller, includes, localCaller, type Role } from './caller.ts'
import { Keys } from './keys.ts'
import { type Refusal, refuse } from './refusal.ts'
import { type AccessSettings, type SettledAccess, settleAccess } from './settings.ts'

export class Access {
  readonly keys: Keys
  readonly #settings: SettledAccess

  constructor(engine: Engine, settings: AccessSettings) {
    this.#settings = settleAccess(settings)
    this.keys = new Keys(engine)
  }

  async authenticate(request: Asking): Promise<Caller | Refusal> {
    const { requireKeys } = this.#settings
    const wrongHost = requireKeys ? undefined : judgeHost(request)
    if (wrongHost) return wrongHost
    const authorization = request.headers['authorization']
    if (authorization !== undefined) return this.#byKey(readBearer(authorization))
    if (requireKeys || !isLoopback(request.remoteAddress)) return refuse('KEY_REQUIRED')
    return judgeForwarding(request) ?? localCaller
  }

  allows(caller: Caller, needed: Role): boolean {
    return includes(caller.role, needed)
  }

  async #byKey(text: string): Promise<Caller | Refusal> {
    const checked = await this.keys.check(text)
    if (!checked.ok) return refuse(checked.code)
    const { id, name, role } = checked.key
    return { kind: 'key', role, id, name }
  }
}

/** What is no bearer token is no key either: it is refused as a wrong one. */
function readBearer(header: string | readonly string[]): string {
  return (typeof header === 'string' && /^bearer +(?<token>\S+) *$/i.exec(header)?.groups?.['token']) || ''
}
