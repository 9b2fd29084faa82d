/**
 * Runs a handler once, without a database: give it a payload, look at the outcome. Nothing is written and nothing is enqueued. It gets its payload as it
 * would from the table, and what the engine would refuse is refused here.
 */
import type { z } from 'zod'
import { encodeEvent } from '../event/event.ts'
import type { GivenServices, Kind } from '../job/kind.ts'
import { type Outcome, readOutcome } from '../job/outcome.ts'
import { encodePayload, encodeRequest } from '../job/request.ts'
import { eachOf } from '../support/errors.ts'
import { checkOptions } from '../support/options.ts'
import { checkKind } from './check-kind.ts'
import { type GivenContext, makeContext } from './handler-context.ts'

type HandlerGiven<Services> = object extends Services
  ? [given?: GivenServices<Services> & { context?: GivenContext }]
  : [given: GivenServices<Services> & { context?: GivenContext }]

const limits = { payloadBytesMax: Number.POSITIVE_INFINITY }

export async function runHandler<Schema extends z.ZodType, Services>(
  kind: Kind<Schema, Services>,
  payload: z.input<Schema>,
  ...rest: HandlerGiven<Services>
): Promise<Outcome> {
  const [given = {}] = rest as [given?: { services?: unknown; context?: GivenContext }]
  checkKind('runHandler.kind', kind)
  checkOptions('runHandler', given, ['services', 'context'])
  const stored = kind.parse(JSON.parse(encodePayload(kind.kindName, payload, limits.payloadBytesMax)))
  const context = makeContext(kind.kindName, kind.retry.attempts, stored, given.context)
  const outcome = readOutcome(await kind.run(context, (given.services ?? {}) as Services), kind.kindName)
  if (outcome.type === 'done') {
    eachOf(outcome.next ?? [], 'next', (request) => encodeRequest(request, limits))
    eachOf(outcome.publish ?? [], 'publish', (event) => encodeEvent(event, limits))
  }
  return outcome
}
