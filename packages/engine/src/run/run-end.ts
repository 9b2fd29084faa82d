/**
 * The end of a run as its message tells it: whoever brought the run to its end may be any process, or none of ours, and the leader tells it once for all.
 */
import { z } from 'zod'
import type { Fact } from '../support/fact.ts'

type RunEnded = Fact & { type: 'run.ended' }

const count = z.int().min(0)
const message = z.object({
  run: count,
  kind: z.string(),
  owner: z.string().nullable(),
  state: z.enum(['completed', 'failed', 'canceled']),
  succeeded: count,
  failed: count,
  canceled: count,
  tookMs: z.number(),
})

/** Nothing when it is in words of another version. */
export function readRunEnd(text: string): RunEnded | undefined {
  const { success, data } = message.safeParse(toJson(text))
  return success ? { type: 'run.ended', ...data, owner: data.owner ?? undefined } : undefined
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
