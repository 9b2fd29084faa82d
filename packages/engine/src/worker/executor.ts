/**
 * Runs one attempt, from claim to verdict. It never throws: whatever the handler does becomes a verdict.
 *
 * A handler that runs past its kind's limit is told by its signal and then left behind: its slot is free and its claim is settled, so
 * whatever it still does carries an old fence and changes nothing.
 */
import type { JobContext } from '../job/context.ts'
import type { AnyKind } from '../job/kind.ts'
import { isOutcome, type Outcome } from '../job/outcome.ts'
import type { Clock, Timer } from '../support/clock.ts'
import { SluiceError } from '../support/errors.ts'
import type { Claim } from './claim.ts'
import { judge, type Verdict } from './judge.ts'
import type { StopSwitch } from './stop-switch.ts'

export interface ExecutorDeps {
  readonly services: unknown
  readonly clock: Clock
  readonly random: () => number
  readonly compute: (kind: AnyKind, input: unknown, signal: AbortSignal) => Promise<unknown>
}

/** Why a signal was aborted; the verdict depends on it. */
export type StopReason = 'canceled' | 'lease lost' | 'shutdown'

export async function execute(claim: Claim, kind: AnyKind, stop: StopSwitch, deps: ExecutorDeps): Promise<Verdict> {
  let payload: unknown
  try {
    payload = kind.parse(JSON.parse(claim.payload))
  } catch (error) {
    return judge(claim, kind, { type: 'fail', error }, 0)
  }
  const context: JobContext<unknown> = {
    id: claim.id,
    kind: claim.kind,
    payload,
    owner: claim.owner,
    attempt: claim.attempt,
    maxAttempts: claim.maxAttempts,
    createdAt: new Date(claim.createdAtMs),
    idempotencyKey: `sluice-job-${claim.id}`,
    get signal() {
      return stop.signal
    },
    compute: (input = payload) => deps.compute(kind, input, stop.signal),
  }
  const outcome = await perform(context, kind, stop, deps)
  return judge(claim, kind, outcome, deps.random())
}

async function perform(context: JobContext<unknown>, kind: AnyKind, stop: StopSwitch, deps: ExecutorDeps): Promise<Outcome> {
  let returned: unknown
  try {
    const started: unknown = kind.run(context, deps.services)
    // Most handlers wait for something; those that do not are spared the timer.
    returned = isThenable(started) ? await withLimit(started, kind.timeoutMs, stop, deps.clock) : started
  } catch (error) {
    if (stop.reason === 'canceled') return { type: 'cancel' }
    return { type: 'retry', error }
  }
  if (returned === undefined) return { type: 'done' }
  if (isOutcome(returned)) return returned
  return {
    type: 'retry',
    error: new SluiceError('INVALID_OUTCOME', { kind: kind.kindName, got: show(returned) }),
  }
}

/** Query builders and other libraries have promises of their own. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function show(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return typeof value
  }
}

async function withLimit(started: PromiseLike<unknown>, limitMs: number, stop: StopSwitch, clock: Clock): Promise<unknown> {
  let timer: Timer | undefined
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(limitMs, () => {
      const error = new SluiceError('HANDLER_TIMED_OUT', { limitMs })
      stop.abort(error)
      reject(error)
    })
  })
  try {
    return await Promise.race([started, late])
  } finally {
    timer?.cancel()
  }
}
