/**
 * Every error of the collector is a row here: a code that never changes and a message that says what to do.
 *
 * No message has a place for a token, so that none can get into one. What GitHub said is told only where it helps, cut to a sentence.
 */
export const collectorErrors = {
  TOKEN_WRONG_SHAPE:
    'This is no token of GitHub: {problem}. A token begins with ghp_, gho_, ghu_, ghs_ or github_pat_; copy it again, whole and without spaces.',
  TOKEN_REFUSED:
    'GitHub refused the token: {reason}. It was revoked, has expired or was mistyped. Make a new one and give that instead.',
  TOKEN_OF_ANOTHER:
    'The token belongs to "{owner}", not to "{login}". Give a token of "{login}", or register "{owner}" with this one.',
  TOKEN_WITHOUT_RIGHTS:
    'The token may not read its own account: {reason}. Use a personal token that may read user and repositories; tokens of apps and workflows cannot.',
  LOGIN_WRONG_SHAPE:
    'This is no login of GitHub. Logins have 1 to 100 letters, digits, dashes or underscores; leave out the @, and keep tokens out of here.',
  LOGIN_UNKNOWN: 'GitHub knows no "{login}". The token belongs to "{owner}": register that login, if it is the one you mean.',
  GITHUB_BUSY: 'GitHub takes no more calls with this token until {until}. Try again then.',
  GITHUB_UNUSABLE:
    'GitHub gave no usable answer at {address}: {reason}. Correct the address of the API (GITHUB_API_URL, --github-url), or try again.',
  USER_UNKNOWN: 'There is no user {user}. Register it first, or correct the login.',
  USER_EXISTS:
    'User {user} ("{login}") is registered already. Give it another token (`sluice users rotate`, PUT /api/users/{user}/token), or remove it first.',
  USER_ELSEWHERE:
    'User {user} ("{login}") is an account at {address}, and this process asks {here}. Set GITHUB_API_URL (--github-url) to {address}; if the same GitHub has moved, `sluice users rotate {login} --move`.',
  COLLECTION_ACTIVE: 'A collection of user {user} is under way: run {run}. Wait for its end or cancel it.',
  COLLECTION_UNKNOWN: 'There is no collection {collection}. Look up the collections of the user.',
  COLLECTION_LIVE: 'Collection {collection} is the live one of its user and cannot be removed alone. Remove the user instead.',
  SHADOW_ACTIVE:
    'Strategies are compared for user {user} already: comparison {shadow}, runs {runs}. Wait for its report, or cancel those runs.',
  INVALID_REQUEST: 'Option {field}: {problem}.',
} as const

export type CollectorErrorCode = keyof typeof collectorErrors

export type CollectorErrorDetails = Readonly<Record<string, string | number | undefined>>

export class CollectorError extends Error {
  override readonly name = 'CollectorError'
  readonly code: CollectorErrorCode
  readonly details: CollectorErrorDetails

  constructor(code: CollectorErrorCode, details: CollectorErrorDetails = {}, cause?: unknown) {
    super(
      collectorErrors[code].replace(/\{(\w+)\}/g, (_, field: string) => String(details[field] ?? '?')),
      cause === undefined ? undefined : { cause },
    )
    this.code = code
    this.details = details
  }
}
