/** Parts that answers of REST share, and the place of a walk that follows links. */
import { stepOn } from '@sluice/github'
import { z } from 'zod'

export const time = z.iso.datetime({ offset: true })
export const id = z.int().min(1)
export const account = z.object({ id }).nullish()

/** A walk of one repository's list, as its next job carries it. */
export const restPlace = z.object({
  id,
  /** As GitHub gave it; nothing for the first page. */
  link: z.string().max(2_000).optional(),
  trail: z.object({ mark: z.string().max(100), steps: z.int(), until: z.int() }).optional(),
  /** Of the first page: kept only when the walk has ended, or a walk that broke off would never be done again. */
  etag: z.object({ etag: z.string().max(500), token: z.string().max(100) }).nullish(),
  startedAt: time.optional(),
  since: time.optional(),
})
export type RestPlace = z.output<typeof restPlace>

/** The next page, unless there is none or the links lead in a circle. */
export function follow(place: RestPlace, next: string | undefined): Pick<RestPlace, 'link' | 'trail'> | undefined {
  if (next === undefined) return undefined
  const trail = stepOn(place.trail, next)
  if (trail === 'loop') throw new Error('the links of this list lead in a circle')
  return { link: next, trail }
}
