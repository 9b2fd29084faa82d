/**
 * Runs a handler once, without a database: give it a payload, look at the outcome. Nothing is written and nothing is enqueued.
 */
import type { z } from 'zod'
import type { JobContext } from '../job/context.ts'
import type { Kind } from '../job/kind.ts'
import type { Outcome } from '../job/outcome.ts'

export async function runHandler<Schema extends z.ZodType, Services>(
  kind: Kind<Schema, Services>,
  payload: z.input<Schema>,
  given: { services?: Services; context?: Partial<JobContext<z.output<Schema>>> } = {},
): Promise<Outcome> {
  const context: JobContext<z.output<Schema>> = {
    id: 1,
    kind: kind.kindName,
    payload: kind.parse(payload),
    owner: undefined,
    attempt: 1,
    maxAttempts: kind.retry.attempts,
    createdAt: new Date(0),
    idempotencyKey: 'sluice-job-1',
    lane: undefined,
    run: undefined,
    event: undefined,
    report: () => {},
    log: () => {},
    signal: new AbortController().signal,
    compute: () => Promise.reject(new Error('give context.compute to stand in for the module')),
    ...given.context,
  }
  return (await kind.run(context, given.services as Services)) ?? { type: 'done' }
}
