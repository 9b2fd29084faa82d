/**
 * Collects one figure per round and contender and compares medians.
 */
import { median } from './statistics.ts'

export class Tally {
  readonly #values = new Map<string, number[]>()

  add(contender: string, value: number): void {
    const values = this.#values.get(contender) ?? []
    values.push(value)
    this.#values.set(contender, values)
  }

  median(contender: string): number {
    return median(this.#values.get(contender) ?? [])
  }

  medians(): Record<string, number> {
    return Object.fromEntries([...this.#values.keys()].map((name) => [name, this.median(name)]))
  }

  /** The best of those named by `belongs`: the highest, or the lowest where less is better. Undefined if none took part. */
  best(belongs: (contender: string) => boolean, better: 'more' | 'less'): { name: string; value: number } | undefined {
    const sign = better === 'more' ? 1 : -1
    return [...this.#values.keys()]
      .filter(belongs)
      .map((name) => ({ name, value: this.median(name) }))
      .toSorted((a, b) => sign * (b.value - a.value))[0]
  }
}
