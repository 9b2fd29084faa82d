/**
 * Kinds for scenes with runs: a run plans pages, some of which fail for good, some of which find more pages, and each of which is walked
 * once in its run; and a bare run that plans nothing.
 */
import { type AnyKind, defineKind, defineRun, delays, done, fail, type Outcome } from '@sluice/engine'
import { z } from 'zod'

const soon = delays(['10ms', '10ms', '10ms'])

export interface Stage {
  /** Every handler of a run comes through here. */
  readonly enter: (place: 'plan' | 'page' | 'finalize', run: number | undefined) => Promise<void>
}

const pageOf = (n: number, depth: number, bad: boolean) => page({ n, depth, bad }, { dedupe: 'once', key: `page ${n}` })

/** The page that page `n` leads to, with so many levels to go. */
const below = (n: number, depth: number): number => 1_000 * depth + Math.floor((n % 1_000) / 2)

const page = defineKind<z.ZodObject<{ n: z.ZodNumber; depth: z.ZodNumber; bad: z.ZodBoolean }>, Stage>('run.page', {
  payload: z.object({ n: z.number(), depth: z.number(), bad: z.boolean() }),
  retry: soon,
  async run({ id, payload, run }, stage): Promise<Outcome> {
    await stage.enter('page', run)
    const { n, depth, bad } = payload
    if (bad) return fail(new Error('a bad page'))
    // Two pages lead to the same one: it is walked once.
    const next = depth > 0 ? [pageOf(below(n, depth), depth - 1, false)] : []
    return done({ next, write: (tx) => tx.query('insert into effect (job, kind) values ($1, $2)', [id, `page ${n} of ${run}`]) })
  },
})

const payload = z.object({ pages: z.number(), bad: z.number(), depth: z.number() })

export const walk = defineRun<typeof payload, Stage>('run.walk', {
  payload,
  retry: soon,
  async plan({ payload: { pages, bad, depth }, run }, stage) {
    await stage.enter('plan', run)
    return done({ next: Array.from({ length: pages }, (_, n) => pageOf(n, n < bad ? 0 : depth, n < bad)) })
  },
  async finalize({ payload: { run } }, stage) {
    await stage.enter('finalize', run)
    return done({ write: (tx) => tx.query('insert into effect (job, kind) values (0, $1)', [`end of ${run}`]) })
  },
})

export const runKinds: readonly AnyKind[] = [page]

/** How many jobs a walk has: plan, pages, and what they lead to, each once. */
export function totalOf({ pages, bad, depth }: { pages: number; bad: number; depth: number }): number {
  let level = new Set(Array.from({ length: pages - bad }, (_, n) => n + bad))
  let total = 1 + pages
  for (let left = depth; left > 0; left--) {
    level = new Set([...level].map((n) => below(n, left)))
    total += level.size
  }
  return total
}
