/**
 * Looking again when something may have changed: by the engine's hints, and by a slow beat in case one got lost. Never faster than the hints come.
 */
import type { Change, Engine } from '@sluice/engine'

export interface FollowWishes {
  readonly topics: readonly Change['topic'][]
  /** The longest between two looks. */
  readonly beatMs: number
  /** The shortest between two looks. */
  readonly restMs?: number
  readonly signal: AbortSignal
}

/** Yields once at once, then after each hint or beat, until the signal comes. Hints during a look count for the next one. */
export async function* follow(engine: Engine, { topics, beatMs, restMs = 0, signal }: FollowWishes): AsyncGenerator<void> {
  await engine.start() // hints come over the connection of a process that is started; it serves no pool and does not lead
  let isDue = false
  let wake = (): void => {}
  const nap = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  let resting = false
  const stop = engine.watch(({ topic }) => {
    if (!topics.includes(topic)) return
    isDue = true
    if (!resting) wake()
  })
  const end = (): void => wake()
  signal.addEventListener('abort', end)
  try {
    while (!signal.aborted) {
      isDue = false
      yield
      resting = true
      if (restMs > 0 && !signal.aborted) await nap(restMs)
      resting = false
      if (!isDue && !signal.aborted) await nap(beatMs)
    }
  } finally {
    signal.removeEventListener('abort', end)
    stop()
  }
}
