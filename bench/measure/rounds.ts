/**
 * Rounds: everybody once, then everybody again, each time beginning with another contender, so that a slow minute of the
 * machine or a warm cache is shared out. Contenders with default settings sit out the later rounds, since they are an order
 * of magnitude away and would only use up the time. Rounds also end when the next one would not fit into the time.
 */
import { monotonicMs } from './clock.ts'

export interface Turn<Contender> {
  readonly round: number
  readonly contender: Contender
}

export interface RoundsPlan {
  readonly rounds: number
  readonly roundsOfDefaults: number
  /** On the monotonic clock. */
  readonly endBeforeMs: number
}

export function* turns<Contender extends { readonly name: string; readonly settings?: 'default' | 'tuned' }>(
  contenders: readonly Contender[],
  plan: RoundsPlan,
): Generator<Turn<Contender>> {
  let longestMs = 0
  for (let round = 1; round <= plan.rounds; round += 1) {
    const startedAtMs = monotonicMs()
    if (startedAtMs + longestMs > plan.endBeforeMs) {
      console.error(`bench: time is up after ${round - 1} of ${plan.rounds} rounds`)
      return
    }
    const present = contenders.filter(({ settings }) => settings !== 'default' || round <= plan.roundsOfDefaults)
    for (let at = 0; at < present.length; at += 1) {
      const contender = present[(at + round - 1) % present.length]
      if (contender) yield { round, contender }
    }
    longestMs = Math.max(longestMs, monotonicMs() - startedAtMs)
  }
}
