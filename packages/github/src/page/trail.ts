/**
 * Protection against links that lead in a circle.
 *
 * A walk is a chain of jobs, so what it remembers travels in a payload and must not grow with the pages. Brent's method needs
 * one mark and two numbers: the mark moves forward at every power of two, and a circle of any length meets it again after at
 * most three times the steps of its first round. The mark is a hash, because links can be long. `steps` lets the walk have a
 * limit of its own against a server that invents a new page for ever.
 */
import { createHash } from 'node:crypto'

export interface Trail {
  readonly mark: string
  /** Pages followed so far. */
  readonly steps: number
  /** The number of steps at which the mark moves next. */
  readonly until: number
}

/** The trail after following `link`, or `loop` when the walk has been there before. Begin with `undefined`. */
export function stepOn(trail: Trail | undefined, link: string): Trail | 'loop' {
  const mark = createHash('sha256').update(link).digest('base64url').slice(0, 16)
  if (!trail) return { mark, steps: 1, until: 2 }
  if (mark === trail.mark) return 'loop'
  const steps = trail.steps + 1
  return steps < trail.until ? { ...trail, steps } : { mark, steps, until: trail.until * 2 }
}
