/**
 * Runs one attempt, from claim to verdict. It never throws: whatever the handler does becomes a verdict.
 *
 * A handler that runs past its kind's limit is told by its signal and then left behind: its slot is free and its claim is settled, so
 * whatever it still does carries an old fence and changes nothing.
 */
import type { AnyKind } from '../job/kind.ts'
import { type Outcome, readOutcome } from '../job/outcome.ts'
import type { BudgetReport } from '../lane/budget-report.ts'
import type { Clock, Timer } from '../support/clock.ts'
import { type Scrub, SluiceError } from '../support/errors.ts'
import { type Attempt, type ContextDeps, HandlerContext } from './handler-context.ts'
import { judge, stopped, type Verdict } from './judge.ts'
import type { StopSwitch } from './stop-switch.ts'

export interface ExecutorDeps extends ContextDeps {
  readonly services: unknown
  readonly random: () => number
  readonly scrub?: Scrub | undefined
}

/** Why a signal was aborted; the verdict depends on it. */
export type StopReason = 'canceled' | 'lease lost' | 'shutdown'

/** A handler that waits for nothing is judged at once, without a promise: that is a tenth of what a small job costs. */
export function execute(
  attempt: Attempt,
  kind: AnyKind,
  deps: ExecutorDeps,
  report?: (said: BudgetReport) => void,
): Verdict | Promise<Verdict> {
  const { claim, stop } = attempt
  const verdict = (outcome: Outcome): Verdict => judge(claim, kind, outcome, deps.random(), deps.scrub)
  let payload: unknown
  try {
    payload = kind.parse(JSON.parse(claim.payload))
  } catch (error) {
    return verdict({ type: 'fail', error })
  }
  const context = new HandlerContext(attempt, kind, payload, deps, report)
  const returned = (value: unknown): Verdict => verdict(read(value, kind))
  const thrown = (error: unknown = new Error('the handler threw undefined')): Verdict =>
    stop.reason === 'canceled' ? stopped : verdict({ type: 'retry', error })
  try {
    const started: unknown = kind.run(context, deps.services)
    return isThenable(started) ? withLimit(started, kind.timeoutMs, stop, deps.clock).then(returned, thrown) : returned(started)
  } catch (error) {
    return thrown(error)
  }
}

function read(returned: unknown, kind: AnyKind): Outcome {
  try {
    return readOutcome(returned, kind.kindName)
  } catch (error) {
    return { type: 'retry', error }
  }
}

/** Query builders and other libraries have promises of their own. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
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
