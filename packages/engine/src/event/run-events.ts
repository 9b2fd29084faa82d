/**
 * How runs end, as events: told once for each end, in its transaction (migrations/0012). Subscribe with `on: [runCompleted]`.
 */
import { z } from 'zod'
import { type EventType, makeEvent } from './event.ts'

const count = z.int().min(0)
const ending = z.object({
  run: count,
  kind: z.string(),
  owner: z.string().nullable(),
  total: count,
  succeeded: count,
  failed: count,
  canceled: count,
})

/** What a subscriber to the end of runs gets; a kind can take it as its payload schema. */
export const runEnding: typeof ending = ending
export const runCompleted: EventType<typeof ending> = makeEvent('run.completed', { payload: ending })
export const runFailed: EventType<typeof ending> = makeEvent('run.failed', { payload: ending })
export const runCanceled: EventType<typeof ending> = makeEvent('run.canceled', { payload: ending })
