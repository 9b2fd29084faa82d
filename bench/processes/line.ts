/**
 * What two processes of the bench say to each other.
 */

/** What a role has besides its input: a line to the process that started it. */
export interface Line {
  tell(message: unknown): void
  /** The next thing that the other side says. */
  told(): Promise<unknown>
}

export type Answer = { told: unknown } | { error: string } | { result: unknown }
