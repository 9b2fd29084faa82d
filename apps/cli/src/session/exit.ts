/**
 * Exit codes, and which error means which. Scripts rely on them: they are written down in docs/cli.md.
 */
export const exit = { ok: 0, failure: 1, usage: 2, notFound: 3, conflict: 4, unavailable: 5, interrupted: 130 } as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** An end that the command itself decides on: what to tell, and how to leave. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode
  readonly code: string

  constructor(exitCode: ExitCode, code: string, message: string) {
    super(message)
    this.exitCode = exitCode
    this.code = code
  }
}

const byCode: Readonly<Record<string, ExitCode>> = {
  UNKNOWN_KIND: exit.notFound,
  UNKNOWN_POOL: exit.notFound,
  UNKNOWN_SCHEDULE: exit.notFound,
  UNKNOWN_EVENT: exit.notFound,
  USER_UNKNOWN: exit.notFound,
  LOGIN_UNKNOWN: exit.notFound,
  COLLECTION_UNKNOWN: exit.notFound,
  UNKNOWN_RUN: exit.notFound,
  UNKNOWN_SECRET: exit.notFound,
  RUN_ACTIVE: exit.conflict,
  COLLECTION_ACTIVE: exit.conflict,
  COLLECTION_LIVE: exit.conflict,
  SHADOW_ACTIVE: exit.conflict,
  USER_EXISTS: exit.conflict,
  USER_ELSEWHERE: exit.conflict,
  DEDUPE_CONTENDED: exit.conflict,
  IN_OPEN_TRANSACTION: exit.conflict,
  INVALID_PAYLOAD: exit.usage,
  PAYLOAD_TOO_LARGE: exit.usage,
  PAYLOAD_NOT_STORABLE: exit.usage,
  INVALID_OPTION: exit.usage,
  INVALID_CRON: exit.usage,
  INVALID_ZONE: exit.usage,
  COST_NEVER_FITS: exit.usage,
  INVALID_REQUEST: exit.usage,
  LOGIN_WRONG_SHAPE: exit.usage,
  TOKEN_WRONG_SHAPE: exit.usage,
  TOKEN_OF_ANOTHER: exit.usage,
  TOKEN_REFUSED: exit.usage,
  TOKEN_WITHOUT_RIGHTS: exit.usage,
  MASTER_KEY_INVALID: exit.usage,
  DUPLICATE_KIND: exit.usage,
  CONFIG_INVALID: exit.usage,
  USAGE: exit.usage,
  MODULE_NOT_FOUND: exit.usage,
  MODULE_WRONG: exit.usage,
  DATABASE_URL_INVALID: exit.usage,
  DATABASE_UNREACHABLE: exit.unavailable,
  DATABASE_REFUSED: exit.unavailable,
  DATABASE_READ_ONLY: exit.unavailable,
  LOOK_TOO_LONG: exit.unavailable,
  GITHUB_BUSY: exit.unavailable,
  GITHUB_UNUSABLE: exit.unavailable,
  NO_DATABASE: exit.unavailable,
  ADDRESS_IN_USE: exit.unavailable,
  ADDRESS_REFUSED: exit.unavailable,
  LOCAL_POSTGRES_NO_BINARIES: exit.unavailable,
  LOCAL_POSTGRES_START_FAILED: exit.unavailable,
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  return byCode[codeOf(error) ?? ''] ?? exit.failure
}

/** What was written wrong, whoever noticed it. */
export const usageCode = 'USAGE'

export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  if (typeof code !== 'string') return undefined
  return code.startsWith('commander.') ? usageCode : code
}
