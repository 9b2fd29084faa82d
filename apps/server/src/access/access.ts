/**
 * Access: tells who asks. The one place where a request becomes a caller, whatever it brings along.
 *
 * A key in the Authorization header comes first, then the cookie of a session, then, where no keys are asked for, being on this machine. Whoever brings a key
 * is judged by it: a wrong one is refused also where none is needed. What happens at the door is recorded here; what callers do afterwards by those who do it.
 */
import type { Engine } from '@sluice/engine'
import { Scrubber } from '../telemetry/scrubber.ts'
import { isLoopback, judgeForwarding, judgeHost } from './address.ts'
import { Audit } from './audit.ts'
import { type Asking, type Caller, includes, localCaller, type Role } from './caller.ts'
import { cookieName, readCookie, writeCookie } from './cookie.ts'
import { FailureLimit } from './failure-limit.ts'
import { digest } from './key-text.ts'
import { type ApiKey, Keys } from './keys.ts'
import { isRefusal, type Refusal, refuse } from './refusal.ts'
import { Sessions } from './sessions.ts'
import { type AccessSettings, type SettledAccess, settleAccess } from './settings.ts'

export interface SignedIn {
  readonly caller: Caller
  /** The value of Set-Cookie. */
  readonly cookie: string
}

export class Access {
  readonly keys: Keys
  readonly audit: Audit
  readonly #sessions: Sessions
  readonly #failures: FailureLimit
  readonly #settings: SettledAccess

  constructor(engine: Engine, settings: AccessSettings) {
    this.#settings = settleAccess(settings)
    this.keys = new Keys(engine)
    this.audit = new Audit(engine, settings.scrubber ?? new Scrubber())
    this.#sessions = new Sessions(engine, this.#settings)
    this.#failures = new FailureLimit(settings.clock ?? performanceClock)
  }

  async authenticate(request: Asking): Promise<Caller | Refusal> {
    const { requireKeys } = this.#settings
    const wrongHost = requireKeys ? undefined : judgeHost(request)
    if (wrongHost) return wrongHost
    const authorization = request.headers['authorization']
    if (authorization !== undefined) {
      const checked = await this.#check(readBearer(authorization), request, 'key.check')
      return isRefusal(checked) ? checked : callerOf('key', checked)
    }
    const token = this.#tokenOf(request)
    const session = token === undefined ? undefined : await this.#sessions.find(token)
    if (session) return session
    if (requireKeys || !isLoopback(request.remoteAddress)) return refuse(token === undefined ? 'KEY_REQUIRED' : 'SESSION_ENDED')
    return judgeForwarding(request) ?? localCaller
  }

  allows(caller: Caller, needed: Role): boolean {
    return includes(caller.role, needed)
  }

  /** A person shows a key once and gets a cookie for it. */
  async signIn(key: string, request: Asking): Promise<SignedIn | Refusal> {
    const checked = await this.#check(key, request, 'session.start')
    if (isRefusal(checked)) return checked
    const token = await this.#sessions.open(checked.id)
    const caller = callerOf('session', checked)
    await this.audit.record({
      caller,
      address: request.remoteAddress,
      action: 'session.start',
      target: checked.id,
      outcome: 'done',
    })
    return { caller, cookie: this.#cookie(token.reveal(), this.#settings.sessionMinutesMax * 60) }
  }

  /** Ends the session of the request's cookie; answers whether there was one, and the Set-Cookie that takes the cookie away. */
  async signOut(request: Asking): Promise<{ readonly ended: boolean; readonly cookie: string }> {
    const token = this.#tokenOf(request)
    const ended = token !== undefined && (await this.#sessions.end(token))
    return { ended, cookie: this.#cookie('', 0) }
  }

  async #check(text: string, { remoteAddress }: Asking, action: string): Promise<ApiKey | Refusal> {
    const proof = digest(text).toString('base64')
    const retryAfterSeconds = this.#failures.waitSeconds(remoteAddress, proof)
    if (retryAfterSeconds !== undefined) return refuse('TOO_MANY_FAILURES', { retryAfterSeconds })
    const checked = await this.keys.check(text)
    if (checked.ok) {
      this.#failures.succeeded(proof)
      return checked.key
    }
    const { code, id } = checked
    const limitReached = this.#failures.failed(remoteAddress, proof)
    await this.audit.record({ address: remoteAddress, action, target: id, detail: { code, limitReached }, outcome: 'refused' })
    return refuse(code)
  }

  #tokenOf({ headers }: Asking): string | undefined {
    return readCookie(headers['cookie'], cookieName(this.#settings.tls)) || undefined
  }

  #cookie(token: string, maxAgeSeconds: number): string {
    return writeCookie(token, { secure: this.#settings.tls, maxAgeSeconds })
  }
}

const performanceClock = { monotonic: () => performance.now() }

function callerOf(kind: 'key' | 'session', { id, name, role }: ApiKey): Caller {
  return { kind, role, id, name }
}

/** What is no bearer token is no key either: it is refused as a wrong one. */
function readBearer(header: string | readonly string[]): string {
  return (typeof header === 'string' && /^bearer +(?<token>\S+) *$/i.exec(header)?.groups?.['token']) || ''
}
