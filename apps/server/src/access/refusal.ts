/**
 * Every way to be turned away is a row here: a code that never changes, the status it is answered with, and what to do.
 *
 * Answers tell a stranger nothing about keys: a wrong id and a wrong secret are the same. That a key has expired or was revoked is said only to whoever
 * has its secret. docs/access.md lists the codes, and a test keeps the two equal.
 */
export interface Refusal {
  readonly status: 401 | 403 | 415 | 429
  readonly code: RefusalCode
  readonly title: string
  readonly detail: string
  readonly retryAfterSeconds?: number
}

interface Row {
  readonly status: Refusal['status']
  readonly title: string
  readonly detail: string
}

export const refusals = {
  KEY_REQUIRED: {
    status: 401,
    title: 'A key is required',
    detail: 'Send an API key as "Authorization: Bearer sluice_…", or sign in. An admin makes keys with "sluice keys create".',
  },
  KEY_INVALID: {
    status: 401,
    title: 'The key is not valid',
    detail:
      'Check that the whole key was sent, as "Authorization: Bearer sluice_…". Lost keys cannot be shown again; ask for another one.',
  },
  KEY_EXPIRED: { status: 401, title: 'The key has expired', detail: 'Ask an admin for another one.' },
  KEY_REVOKED: { status: 401, title: 'The key was revoked', detail: 'Ask an admin for another one.' },
  SESSION_ENDED: { status: 401, title: 'You are signed out', detail: 'The session has ended. Sign in again.' },
  HOST_NOT_LOCAL: {
    status: 403,
    title: 'The host is not this machine',
    detail:
      'This server asks for no keys, so it answers only under the names of this machine: localhost, 127.0.0.1, [::1]. Use one of them, or start it with keys required.',
  },
  FORWARDED: {
    status: 403,
    title: 'The request was forwarded',
    detail:
      'This server asks for no keys, so it does not answer through a proxy, behind which anybody may be. Start it with keys required, or send a key.',
  },
  CROSS_SITE: {
    status: 403,
    title: 'Another site asked for this',
    detail:
      'Changes are taken from our own pages and from tools. A tool that copies the headers of a browser should leave out Origin and Sec-Fetch-Site.',
  },
  JSON_REQUIRED: {
    status: 415,
    title: 'Changes are sent as JSON',
    detail: 'Send "Content-Type: application/json", also where the body is empty. Forms of other sites cannot, which is why.',
  },
  ROLE_TOO_LOW: { status: 403, title: 'Your role does not allow this', detail: 'Ask an admin for a key with a higher role.' },
  TOO_MANY_FAILURES: {
    status: 429,
    title: 'Too many wrong keys',
    detail: 'Wait as long as Retry-After says, and check the key. Callers whose keys were right a moment ago go on.',
  },
} as const satisfies Record<string, Row>

export type RefusalCode = keyof typeof refusals

export function refuse(code: RefusalCode, more: { detail?: string; retryAfterSeconds?: number } = {}): Refusal {
  return { code, ...refusals[code], ...more }
}

/** Whether an answer that may be a refusal is one. */
export function isRefusal(answer: object): answer is Refusal {
  return 'code' in answer && 'status' in answer && Object.hasOwn(refusals, String(answer.code))
}
