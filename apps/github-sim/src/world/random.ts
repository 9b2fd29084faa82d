/**
 * Chance from a seed: the same words always give the same numbers, so a repository can be generated when it is first asked
 * for, thrown away, and generated again.
 */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
}

export function createRandom(...words: readonly (string | number)[]): Random {
  let state = fold(words.join('\u0000'))
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: <T>(values: readonly T[]) => values[whole(0, values.length - 1)] as T,
  }
}

/** FNV-1a over the characters. */
function fold(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/** Splits a total into uneven parts that sum up exactly; each part gets at least one if there is enough for all. */
export function splitTotal(total: number, parts: number, random: Random): number[] {
  if (parts === 0) return []
  const floor = total >= parts ? 1 : 0
  const weights = Array.from({ length: parts }, () => random.next() ** 3 + 0.02)
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const left = total - floor * parts
  const shares = weights.map((weight) => floor + Math.floor((left * weight) / sum))
  let rest = total - shares.reduce((all, share) => all + share, 0)
  for (let at = 0; rest > 0; at = (at + 1) % parts, rest--) shares[at] = (shares[at] ?? 0) + 1
  return shares
}
