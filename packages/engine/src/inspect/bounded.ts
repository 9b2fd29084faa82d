/**
 * A number that was not counted further than it is worth.
 */
export interface Bounded {
  readonly count: number
  /** There are more than this. */
  readonly more: boolean
}

export const nothing: Bounded = { count: 0, more: false }
