/** A run of a comparison has completed. An event of its own, so that the many other runs that complete cost nothing. */
import { defineEvent } from '@sluice/engine'
import { z } from 'zod'

const count = z.int().min(0)

/** A part of what the engine tells of a run that failed or was canceled. */
export const shadowEnding = z.object({ run: count, kind: z.string(), total: count, failed: count })

export const shadowEnded = defineEvent('collector.shadow-ended', { payload: shadowEnding })
