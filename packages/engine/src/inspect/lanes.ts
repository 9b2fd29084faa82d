/**
 * Lanes and owners for people who look, by name.
 */
import sql from 'sql-template-tag'
import { z } from 'zod'
import { type Lane, laneColumns } from '../lane/lanes.ts'
import type { Owner } from '../lane/owners.ts'
import type { Executor } from '../postgres/client.ts'
import { checkFields } from '../support/issue.ts'
import { type Listed, lookRowsMax, nameText, type Page, readPage, writeCursor } from './page.ts'

export interface LaneFilter {
  readonly owner?: string | undefined
  /** Those that start nothing now, or those that may. */
  readonly closed?: boolean | undefined
}

/** Counted up to 1,000 lanes of an owner. */
export interface SeenOwner extends Owner {
  readonly lanes: number
}

const filterSchema = z.strictObject({ owner: nameText.optional(), closed: z.boolean().optional() })

interface LanesEnd {
  readonly looked: number
  readonly next: string | null
}

export async function listLanes(on: Executor, filter: LaneFilter, page: Page): Promise<Listed<Lane>> {
  const { limit, at } = readPage('lanes', page, nameText)
  const { owner, closed } = checkFields(filterSchema, filter)
  const { rows } = await on.query<Lane & LanesEnd>(sql`
    select ${laneColumns}, x.looked, x.next
    from sluice.list_lanes(${owner ?? null}, ${closed ?? null}, ${at ?? ''}, ${limit}, ${lookRowsMax}) as x(l, o, looked, next)`)
  const end = rows.at(-1)
  const items = rows.slice(0, -1).map(({ looked: _looked, next: _next, ...lane }) => lane)
  const next = end?.next ? writeCursor('lanes', end.next) : undefined
  return closed === undefined ? { items, next } : { items, next, looked: { rows: end?.looked ?? 0, until: undefined } }
}

export async function listOwners(on: Executor, page: Page): Promise<Listed<SeenOwner>> {
  const { limit, at } = readPage('owners', page, nameText)
  const { rows } = await on.query<SeenOwner>(sql`
    select name, cap, hold_until as "holdUntil", paused, in_flight as "inFlight", lanes from sluice.list_owners(${at ?? ''}, ${limit + 1})`)
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? writeCursor('owners', items.at(-1)?.name) : undefined }
}
