/**
 * Line: ends of one sort on their way to the database. What holds up one line holds up no other.
 */
import type { Ended } from './ended.ts'

export interface LineOptions {
  readonly groupSizeMax: number
  /** How many groups may be under way. */
  readonly groupsMax: number
  /** What one of them takes, in plain ends. */
  readonly weight?: number
}

export class Line {
  readonly ends: Ended[] = []
  /** Under way. */
  groups = 0
  readonly #options: LineOptions

  constructor(options: LineOptions) {
    this.#options = options
  }

  get mayGoOn(): boolean {
    return this.ends.length > 0 && this.groups < this.#options.groupsMax
  }

  get pending(): number {
    const { groupSizeMax, weight = 1 } = this.#options
    return (this.ends.length + this.groups * groupSizeMax) * weight
  }

  take(): Ended[] {
    return this.ends.splice(0, this.#options.groupSizeMax)
  }
}
