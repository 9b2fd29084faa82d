/**
 * Who asks, and what they may do. Roles include one another: whoever operates reads, and an admin does everything.
 */
export const roles = ['read', 'operate', 'admin'] as const

export type Role = (typeof roles)[number]

export interface Caller {
  readonly kind: 'key' | 'session' | 'local' | 'cli'
  readonly role: Role
  /** Of the key, also for a session: that is whose deeds they are. */
  readonly id: string
  readonly name: string
}

/** A request, as far as it says who asks. Names of headers are in lower case, as Node gives them. */
export interface Asking {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Of the connection itself. What headers claim about it is not believed. */
  readonly remoteAddress: string | undefined
}

/** Whoever has come in on this machine, where no keys are asked for. */
export const localCaller: Caller = { kind: 'local', role: 'admin', id: 'local', name: 'this machine' }

export function includes(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** A header that may come once. One that came more often is not guessed at. */
export function oneHeader(headers: Asking['headers'], name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
