/**
 * A label whose values come from outside is bounded: the first so many names keep their own, the rest share `other`. A series is never
 * given up again, so an unbounded label would fill the memory of this process and of whoever scrapes it.
 */
export class BoundedLabel {
  readonly #names = new Set<string>()
  readonly #namesMax: number

  constructor(namesMax: number) {
    this.#namesMax = namesMax
  }

  of(name: string): string {
    if (this.#names.has(name)) return name
    if (this.#names.size >= this.#namesMax) return 'other'
    this.#names.add(name)
    return name
  }
}
