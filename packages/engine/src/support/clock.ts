/**
 * Time comes in as an argument. `systemClock` is the real one; tests turn theirs by hand.
 *
 * `now` is for dates, `monotonic` for trust in a lease (it never jumps), `after` for waiting. Node's timers overflow past 2³¹ ms and
 * then fire at once, so longer waits are cut into legs.
 */
export interface Timer {
  cancel(): void
}

export interface Clock {
  now(): number
  monotonic(): number
  after(ms: number, act: () => void): Timer
}

const legMsMax = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, act) {
    let handle: NodeJS.Timeout
    const leg = (left: number): void => {
      handle = setTimeout(() => (left > legMsMax ? leg(left - legMsMax) : act()), Math.min(left, legMsMax))
    }
    leg(Math.max(0, ms))
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Waits that end early when `signal` is aborted. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.after(ms, end)
    signal?.addEventListener('abort', end)
  })
}
