/**
 * Which database errors pass by themselves. Only these are retried; anything else is somebody's mistake and is reported.
 */
import { SluiceError } from '../support/errors.ts'

const transientStates = new Set([
  '40001', // serialization failure
  '40P01', // deadlock detected
  '55P03', // lock not available
  '53300', // too many connections
  '57P01', // admin shutdown
  '57P02', // crash shutdown
  '57P03', // cannot connect now
  '57P05', // idle session timeout
  '57014', // canceled: it took longer than the role's statements may, or somebody canceled it
  '25P04', // the same for transactions
  '25P03', // idle in transaction timeout
  '26000', // a pooler forgot a prepared statement; they are off from now on
  '42P05', // or gave us a connection that knows it already
])

/** The server answers and cannot store, whoever asks. */
const stuckStates = new Set([
  '53100', // its disk is full
  '25006', // it takes no writes: another one is about to take over, or has done so
])

const transientCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
])

const driverMessages =
  /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|not queryable/i

export function isTransient(error: unknown): boolean {
  return isConnectionLoss(error) || isStuck(error) || transientStates.has(sqlState(error) ?? '')
}

/** Nobody's statement is to blame. */
export function isStuck(error: unknown): boolean {
  return stuckStates.has(sqlState(error) ?? '')
}

/** The connection is gone, and whether the statement took effect is unknown. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlState(error)
  // What the driver says of itself has no code. What the server says may quote anything.
  if (state === undefined) return driverMessages.test(error.message)
  return state.startsWith('08') || state.startsWith('57P') || state === '25P04' || transientCodes.has(state)
}

/** Of an error of ours, that of what the server said. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof SluiceError) return sqlState(error.cause)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
