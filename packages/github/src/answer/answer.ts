/**
 * What GitHub can answer, as one closed union: each type is one thing to do next, however many statuses and texts say it.
 */
import type { Budget } from '../budget/budget.ts'

/** What every answer carries. */
export interface Heard {
  /** 0 when there was no answer. */
  readonly status: number
  /** Undefined when it must not be believed: on a 401, without headers, from the bucket for callers without a token. */
  readonly budget: Budget | undefined
  /** Units that this call spent: 0 for a 304 and for what was never sent. */
  readonly cost: number
  /** The server's own clock; the local one if it does not say. */
  readonly servedAt: Date
  readonly pollIntervalMs: number | undefined
}

export interface GraphqlError {
  readonly type: string | undefined
  readonly message: string
  readonly path: (string | number)[] | undefined
}

/** Why a token that is known may not see this. The first two and `permission` are about one organization or repository. */
export type ForbiddenKind = 'sso' | 'ip' | 'permission' | 'login-attempts' | 'user-agent' | 'other'

export type Said<T> =
  | {
      readonly type: 'ok'
      readonly data: T
      /** The link to the next page, to be followed as it is. */
      readonly next: string | undefined
      readonly etag: string | undefined
      readonly lastModified: string | undefined
      /** What a GraphQL answer left out; [] for REST. */
      readonly errors: GraphqlError[]
      /** The list lacks what organizations protect by single sign-on. */
      readonly sso: 'partial' | undefined
    }
  | { readonly type: 'not modified' }
  /** Not followed: whoever follows stores the new place first. */
  | { readonly type: 'moved'; readonly to: string; readonly repositoryId: number | undefined }
  | { readonly type: 'gone' }
  | { readonly type: 'empty' }
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'disabled'; readonly what: string }
  /** GitHub is still computing it: ask again later. */
  | { readonly type: 'computing' }
  | { readonly type: 'unauthorized'; readonly message: string }
  | { readonly type: 'forbidden'; readonly kind: ForbiddenKind; readonly message: string }
  | { readonly type: 'primary limit'; readonly resetAt: Date }
  | { readonly type: 'secondary limit'; readonly retryAt: Date }
  | { readonly type: 'invalid'; readonly message: string; readonly deepPage: boolean }
  /** Ask for less at a time: see `halve`. */
  | { readonly type: 'too heavy'; readonly message: string }
  | { readonly type: 'server trouble'; readonly message: string; readonly retryAfterMs: number | undefined }
  | { readonly type: 'malformed'; readonly message: string }

export type Answer<T> = Heard & Said<T>
