/** How far a collection is, what is left of the user's quota, and when it will end. */
import type { Engine, Run } from '@sluice/engine'

export interface Progress {
  readonly run: Pick<Run, 'id' | 'state' | 'trigger' | 'createdAt' | 'finishedAt' | 'error'>
  readonly kinds: readonly KindProgress[]
  readonly quota: readonly Quota[]
  readonly remainingJobs: number
  readonly expectedEnd: Date | null
}

export interface KindProgress {
  readonly kind: string
  readonly total: number
  readonly done: number
  readonly failed: number
}

export interface Quota {
  readonly resource: 'core' | 'graphql'
  readonly remaining: number | null
  readonly limit: number | null
  readonly resetAt: Date | null
  readonly holdUntil: Date | null
  /** The reason. */
  readonly paused: string | null
}

export async function findProgress(_engine: Engine, _userId: number, _run: number): Promise<Progress | undefined> {
  throw new Error('to come')
}
