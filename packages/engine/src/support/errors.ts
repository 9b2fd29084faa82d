/**
 * Every error of the engine is a row here: a code that never changes and a message that says what to do.
 *
 * Programs switch on `code`, people read `message`. docs/errors.md explains each code and a test keeps the two lists equal.
 */
export const errorTable = {
  UNKNOWN_KIND: 'No kind is registered as "{kind}". Start a process that defines it once, or correct the name.',
  UNKNOWN_POOL:
    'There is no pool "{name}": no kind, no waiting job and no process names it. Correct the name; `inspect.pools` lists those that are there.',
  DUPLICATE_KIND: 'Two kinds are named "{kind}". Give one of them another name: jobs find their handler by it.',
  INVALID_PAYLOAD: 'The payload of "{kind}" does not fit its schema: {issues}',
  PAYLOAD_TOO_LARGE:
    'The payload of "{kind}" has {bytes} bytes, the limit is {limit}. Store the data elsewhere and enqueue a reference to it.',
  PAYLOAD_NOT_STORABLE: 'The payload of "{kind}" cannot be stored as JSON: {reason}.',
  INVALID_OPTION: 'Option {field}: {problem}.',
  INVALID_OUTCOME:
    'The handler of "{kind}" returned {got}. Return done(), retry(), snooze(), fail() or cancel(), or nothing for done().',
  INVALID_CRON:
    'The cron expression "{cron}" is not usable: {problem}. Write minute, hour, day, month and weekday, as in "5 0 * * *" for 00:05.',
  INVALID_ZONE: 'There is no time zone "{zone}". Use a name of the IANA list, such as "Asia/Seoul" or "UTC".',
  UNKNOWN_SCHEDULE: 'There is no schedule "{name}". Set it first, or correct the name.',
  UNKNOWN_EVENT:
    'No event is registered as "{event}". Start a process that has it in its `events` or in `on` of a kind once, or correct the name.',
  EVENT_CYCLE:
    'Event "{event}" would follow on a chain of {chain} events, each caused by the one before. Look for a subscriber that publishes what it subscribes to.',
  DATABASE_URL_INVALID:
    'The database address is not usable: {reason}. Write it as postgresql://user:password@host:5432/database.',
  DATABASE_UNREACHABLE: 'PostgreSQL does not answer: {reason}. Check that it runs and that host, port and firewall are right.',
  DATABASE_REFUSED: 'PostgreSQL refused: {reason}. {advice}.',
  DATABASE_READ_ONLY: 'The database is read-only (a standby?). Point the address at the primary.',
  LOOK_TOO_LONG: 'The look took longer than {limitMs} ms and was ended. Narrow the filter, or ask for a smaller page.',
  DATABASE_SETTING:
    'PostgreSQL has {setting} = {value} for the role "{role}", and the engine needs {needed}. Give it a role with other settings, or change this one: alter role "{role}" set {setting} = {cure}.',
  POSTGRES_TOO_OLD: 'PostgreSQL {version} is too old. The engine needs 15 or newer.',
  SCHEMA_INCOMPATIBLE:
    'The schema in the database needs a process that knows migration {needs} of {package}, this one knows up to {knows}. Upgrade this process.',
  SCHEMA_BEHIND: 'The schema in the database lacks {missing}. Run `sluice migrate`, or start a process that may migrate.',
  SCHEMA_CHANGED:
    'Migration {file} was changed after it had been applied. Restore the file and put the change into a new migration.',
  COST_NEVER_FITS: 'This job can never start: {problem}. Split it, or raise the budget or lower the floor of its lane.',
  IN_OPEN_TRANSACTION: 'Nothing was changed: {problem}. Let it commit or roll back, or end that session, and try again.',
  UNKNOWN_RUN:
    'There is no run {run}. Correct its number. One that was started in a transaction is there when that has committed; one that ended long ago is forgotten.',
  RUN_ACTIVE: 'A run of "{kind}"{whose} is under way: run {run}. Wait for its end or cancel it.',
  DEDUPE_CONTENDED: 'The dedupe key of this "{kind}" job keeps changing hands. Try again.',
  SECRETS_OFF:
    'This engine has no master key, so it keeps no secrets. Give createEngine a KeyRing as `secrets`; a server takes it from SLUICE_MASTER_KEY.',
  MASTER_KEY_INVALID:
    'The master key of {source} cannot be used: {problem}. A key is 32 random bytes in base64, as `openssl rand -base64 32` makes them; several are separated by commas, the one that seals first.',
  MASTER_KEY_UNKNOWN:
    'Secret "{name}" was sealed with master key {key}, and this process has {known}. Add the missing key to SLUICE_MASTER_KEY, after the current one, or put the secret again.',
  SECRET_UNREADABLE:
    'Secret "{name}" does not open: it was changed, or moved here from another name, after it was sealed. Put it again.',
  UNKNOWN_SECRET: 'There is no secret "{name}". Put it first, or correct the name.',
  TRANSACTION_OVER:
    'This transaction is over, and its connection serves others. Wait for every query before `write` or the transaction ends: await it, or return its promise.',
  TRANSACTION_NOT_YOURS: 'A transaction that the engine lends does not take {statement}: {problem}.',
  ENGINE_STOPPED: 'The engine is stopped. Create a new one.',
  HANDLER_TIMED_OUT: 'The handler ran longer than {limitMs} ms. Raise `timeout` of the kind, or make it listen to `signal`.',
  OWN_PROCESS_DIED: 'The process of "{kind}" ended ({how}) before it answered.',
  WORKER_LOST: 'The process that ran this job is gone. The job runs again elsewhere.',
  POISON:
    'Every process that ran this job died, the last one while it ran nothing else. Mend the handler, then retry the job by hand.',
} as const

export type ErrorCode = keyof typeof errorTable

export type ErrorDetails = Readonly<Record<string, string | number | undefined>>

export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    const text = errorTable[code].replace(/\{(\w+)\}/g, (_, field: string) => String(details[field] ?? '?'))
    super(details['place'] === undefined ? text : `${details['place']}: ${text}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}

/** Does something for each of a list. What is wrong with one of them is said of that one: `jobs[2]: …`, and `place` in the details. */
export function eachOf<T, R>(list: readonly T[], name: string, act: (one: T) => R): R[] {
  // A list with holes has nothing there, and `map` would pass them over.
  return Array.from(list, (one, at) => {
    try {
      return act(one)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      throw new SluiceError(error.code, { ...error.details, place: `${name}[${at}]` }, error.cause)
    }
  })
}

/** An error as it is stored with a job: plain data, bounded in size, whatever was thrown. */
export interface StoredError {
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

const messageCharsMax = 4_000
const stackCharsMax = 8_000
const codeCharsMax = 100

/** Takes secrets out of text that is about to be stored or told. */
export type Scrub = (text: string) => string

/** Total: nothing that a handler throws, not even an error that throws when it is read, stops the loop that stores it. */
export function storeError(thrown: unknown, scrub: Scrub = (text) => text): StoredError {
  try {
    // Scrubbed before it is cut: half of a secret would not be known as one.
    if (!(thrown instanceof Error)) return { message: clip(scrub(describe(thrown)), messageCharsMax) }
    const { stack, code, cause } = thrown as { stack?: unknown; code?: unknown; cause?: { code?: unknown } }
    const known = [code, cause?.code].find((one) => typeof one === 'string')
    return {
      message: clip(scrub(withReasons(thrown)), messageCharsMax),
      ...(typeof known === 'string' ? { code: clip(known, codeCharsMax) } : {}),
      ...(typeof stack === 'string' ? { stack: clip(scrub(stack), stackCharsMax) } : {}),
    }
  } catch {
    return { message: 'something was thrown that cannot be read' }
  }
}

const reasonsMax = 5

/** What it says, and behind it what brought it about, where it does not say so itself: "fetch failed" alone helps nobody. */
function withReasons(thrown: unknown, depth = 0): string {
  if (!(thrown instanceof Error)) return describe(thrown)
  const { message, name, cause, errors } = thrown as { message?: unknown; name?: unknown; cause?: unknown; errors?: unknown }
  const text = describe(message || name)
  if (depth === reasonsMax) return text
  const reasons = [...(Array.isArray(errors) ? (errors as unknown[]) : []), ...(cause === undefined ? [] : [cause])]
    .slice(0, reasonsMax)
    .map((reason) => withReasons(reason, depth + 1))
    .filter((reason) => text !== reason && !text.includes(`: ${reason}`))
  return reasons.length === 0 ? text : `${text} (because: ${reasons.join('; ')})`
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return String(thrown)
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function clip(text: string, charsMax: number): string {
  return text.slice(0, charsMax).replaceAll('\0', '\uFFFD').toWellFormed()
}
