/**
 * What handlers work with: GitHub, the settings, and the engine whose secrets and tables they use. The engine is made with the kinds, so it can only be
 * handed in afterwards.
 */
import type { Engine } from '@sluice/engine'
import type { Github } from '@sluice/github'
import type { Strategy } from '../collection/collection.ts'
import type { WatchSettings } from '../strategy/watch.ts'
import { Holds } from './holds.ts'

export type Affiliation = 'OWNER' | 'COLLABORATOR' | 'ORGANIZATION_MEMBER'

export interface WorkshopSettings {
  /** For users that have no strategy of their own. */
  readonly strategy: Strategy
  /** Whose repositories count as the user's. */
  readonly affiliations: readonly Affiliation[]
  /** How far before its own beginning the next walk looks: clocks differ and lists are late. */
  readonly overlapMs: number
  /** Over how long the daily requests are spread. */
  readonly spreadMs: number
  /** How long ended runs and settled switches are remembered. */
  readonly keepDays: number
  /** When a switch of strategy is taken back. */
  readonly watch: WatchSettings
  readonly now: () => number
}

export class Workshop {
  readonly github: Github
  readonly settings: WorkshopSettings
  /** Shared by all handlers of a process, whichever way they go. */
  readonly holds: Holds
  #engine: Engine | undefined

  constructor(github: Github, settings: WorkshopSettings, holds: Holds = new Holds()) {
    this.github = github
    this.settings = settings
    this.holds = holds
  }

  get engine(): Engine {
    if (!this.#engine) throw new Error('The collector has no engine yet: call open(engine) of its parts before the engine starts')
    return this.#engine
  }

  bind(engine: Engine): void {
    this.#engine = engine
  }

  /** The same, with another way to GitHub. */
  through(github: Github): Workshop {
    const other = new Workshop(github, this.settings, this.holds)
    if (this.#engine) other.bind(this.#engine)
    return other
  }
}

/** The services of an engine that the collector's parts were spread into. */
export interface Services {
  readonly collector: Workshop
}
