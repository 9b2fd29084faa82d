/** A switch of strategy did worse than what was before, and was taken back. */
import { defineEvent } from '@sluice/engine'
import { z } from 'zod'
import { strategies } from '../collection/collection.ts'

const strategy = z.enum(strategies)

export const strategyRolledBack = defineEvent('collector.strategy-rolled-back', {
  payload: z.object({
    switch: z.int().min(1),
    /** null: for all that have none of their own. */
    userId: z.int().min(1).nullable(),
    /** Did worse. */
    from: strategy,
    /** Is in force again. */
    to: strategy,
    reason: z.string(),
  }),
})
