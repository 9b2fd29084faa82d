/**
 * Rounds: everybody once, then everybody again, each time beginning with another contender, so that a slow minute of the
 * machine or a warm cache is shared out. Contenders that are an order of magnitude away sit out the later rounds, since they
 * would only use up the time. Rounds also end when the next one would not fit into the time.
 */
import { monotonicMs } from './clock.ts'

export interface Turn<Contender> {
  readonly round: number
  readonly contender: Contender
}

export interface RoundsPlan {
  readonly rounds: number
  readonly roundsOfOutsiders: number
  /** On the monotonic clock. */
  readonly endBeforeMs: number
}

export function* turns<Contender>(
  contenders: readonly Contender[],
  plan: RoundsPlan,
  isOutsider: (contender: Contender) => boolean = () => false,
): Generator<Turn<Contender>> {
  const startedAtMs = monotonicMs()
  let taken = 0
  const fits = (more: number) => {
    const eachMs = taken === 0 ? 0 : (monotonicMs() - startedAtMs) / taken
    return monotonicMs() + eachMs * more < plan.endBeforeMs
  }
  for (let round = 1; round <= plan.rounds; round += 1) {
    const present = contenders.filter((contender) => round <= plan.roundsOfOutsiders || !isOutsider(contender))
    if (round > 1 && !fits(present.length)) return console.error(`bench: time is up after ${round - 1} of ${plan.rounds} rounds`)
    for (let at = 0; at < present.length; at += 1) {
      if (round > 1 && !fits(1)) return console.error(`bench: time is up within round ${round} of ${plan.rounds}`)
      const contender = present[(at + round - 1) % present.length]
      if (contender !== undefined) yield { round, contender }
      taken += 1
    }
  }
}
