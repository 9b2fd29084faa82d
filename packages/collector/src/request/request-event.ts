/**
 * The one way in: signup, schedule and people all publish this event, and whoever subscribes starts the run or finds one under way.
 */
import { defineEvent } from '@sluice/engine'
import { z } from 'zod'

export const triggers = ['signup', 'scheduled', 'manual'] as const

export type Trigger = (typeof triggers)[number]

export const collectionRequested = defineEvent('collector.requested', {
  payload: z.object({
    /** Of the GitHub account. */
    userId: z.int().min(1),
    /** What happened before need not be looked at; left out: where the last run ended. */
    start: z.iso.datetime({ offset: true }).optional(),
    trigger: z.enum(triggers),
    /** A shadow; left out: the live one. */
    collection: z.int().min(1).optional(),
  }),
})
