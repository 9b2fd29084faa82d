/**
 * What a command is made of. Nouns describe their commands as data; what a command does is imported when it is called, so that help, completion and
 * typing errors cost nothing.
 */
import type { Action } from '@sluice/server'
import type { Command } from 'commander'
import type { Session } from './session.ts'

export interface Call {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly session: Session
  /** The whole tree, for completion. */
  readonly program: Command
}

/** What it answers is the exit code; nothing means 0. */
export type Act = (call: Call) => Promise<number | void>

export interface Choice {
  /** As commander takes it: `-s, --state <state>`. */
  readonly flags: string
  readonly about: string
  /** Checks and changes the text; throws with what to write. */
  readonly read?: (text: string) => unknown
  /** Words that completion offers. */
  readonly words?: readonly string[]
  readonly repeats?: true
}

export interface Leaf {
  /** Name and arguments: `show <id>`. */
  readonly usage: string
  readonly about: string
  readonly aliases?: readonly string[]
  readonly choices?: readonly Choice[]
  /** At least one, with a word on what it does. */
  readonly examples: readonly (readonly [command: string, about: string])[]
  /** Longer words, between the options and the examples. */
  readonly note?: string
  /** What it changes, as the audit log calls it; none for those that only look. */
  readonly deed?: Action | ((given: Pick<Call, 'args' | 'options'>) => Action | undefined)
  readonly load: () => Promise<Act>
}

export interface Noun {
  readonly name: string
  readonly about: string
  readonly leaves: readonly Leaf[]
}
