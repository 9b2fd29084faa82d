/**
 * A REST request after the door has done its work, and the reply before the door adds its headers. Whoever answers is a plain
 * function from one to the other.
 */

import type { Budgets } from '../budget/budgets.ts'
import type { World } from '../world/world.ts'

export type ApiVersion = '2022-11-28' | '2026-03-10'

export interface Ask {
  readonly world: World
  readonly budgets: Budgets
  readonly deepPageMax: number
  readonly method: string
  /** Without `/api/v3`. */
  readonly path: string
  readonly query: URLSearchParams
  /** What every address in an answer begins with: the caller's own origin, and `/api/v3` if that was asked. */
  readonly base: string
  readonly viewerId: number | undefined
  readonly payer: number | string
  /** False for a token that was given no repository. */
  readonly mayRead: boolean
  readonly version: ApiVersion
  readonly now: number
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds; where it is given, If-Modified-Since is honoured. */
  readonly lastModified?: number
}

export const ok = (body: unknown, more: Omit<Reply, 'status' | 'body'> = {}): Reply => ({ status: 200, body, ...more })

export const iso = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`
export const isoOrNull = (at: number | null) => (at === null ? null : iso(at))

/** A time in a query; what cannot be read is ignored, as GitHub does. */
export function timeIn(query: URLSearchParams, name: string): number | undefined {
  const value = Date.parse(query.get(name) ?? '')
  return Number.isNaN(value) ? undefined : value
}
