/**
 * What the engine says while it works: fixed event names with fields, for whatever logger the host has.
 *
 * The shape fits pino and console alike through a one-line adapter. Without one, warnings and errors go to standard error as JSON lines.
 */
export interface Log {
  debug?(event: string, fields?: Record<string, unknown>): void
  info(event: string, fields?: Record<string, unknown>): void
  warn(event: string, fields?: Record<string, unknown>): void
  error(event: string, fields?: Record<string, unknown>): void
  /** Whether it wants a line for every job that ends. Default no: only those that failed for good get one, what else is worth a look is in the job's attempts. */
  readonly jobs?: boolean
}

const write = (level: string, event: string, fields?: Record<string, unknown>): void => {
  process.stderr.write(`${JSON.stringify({ level, event, ...fields })}\n`)
}

export const standardErrorLog: Log = {
  info: () => {},
  warn: (event, fields) => write('warn', event, fields),
  error: (event, fields) => write('error', event, fields),
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
