/**
 * Runs a handler once, without a database: give it a payload, look at the outcome. Nothing is written and nothing is enqueued. It gets its payload as it
 * would from the table, and what the engine would refuse is refused here.
 */
import type { z } from 'zod'
import type { JobContext } from '../job/context.ts'
import type { Kind } from '../job/kind.ts'
import { type Outcome, readOutcome } from '../job/outcome.ts'
import { encodePayload } from '../job/request.ts'
import { checkOptions } from '../support/options.ts'

export async function runHandler<Schema extends z.ZodType, Services>(
  kind: Kind<Schema, Services>,
  payload: z.input<Schema>,
  given: { services?: Services; context?: Partial<JobContext<z.output<Schema>>> } = {},
): Promise<Outcome> {
  checkOptions('runHandler', given, ['services', 'context'])
  const context: JobContext<z.output<Schema>> = {
    id: 1,
    kind: kind.kindName,
    payload: kind.parse(JSON.parse(encodePayload(kind.kindName, payload, Number.POSITIVE_INFINITY))),
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
  return readOutcome(await kind.run(context, given.services as Services), kind.kindName)
}
