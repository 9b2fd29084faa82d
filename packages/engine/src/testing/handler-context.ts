/**
 * The context of a handler that runs alone: what a test says of it, checked, and something plain for the rest.
 */
import { z } from 'zod'
import type { JobContext } from '../job/context.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { checkOptions } from '../support/options.ts'

const isFunction = z.custom((given) => typeof given === 'function', 'is no function')
const number = z.int().min(1)
const schema = z
  .object({
    id: number,
    kind: z.string(),
    owner: z.string(),
    attempt: number,
    maxAttempts: number,
    createdAt: z.date(),
    idempotencyKey: z.string(),
    lane: z.string(),
    run: number,
    event: number,
    report: isFunction,
    log: isFunction,
    // By its looks: environments that play a browser bring a class of their own.
    signal: z.custom(
      (given) => typeof given === 'object' && given !== null && 'aborted' in given,
      'is no AbortSignal; give that of an AbortController',
    ),
    compute: isFunction,
  })
  .partial()

/** What a test may say of it. */
export type GivenContext = Partial<Omit<JobContext<unknown>, 'payload'>>

export function makeContext<P>(kind: string, maxAttempts: number, payload: P, given: GivenContext = {}): JobContext<P> {
  const plain: JobContext<P> = {
    id: 1,
    kind,
    payload,
    owner: undefined,
    attempt: 1,
    maxAttempts,
    createdAt: new Date(0),
    idempotencyKey: 'sluice-job-1',
    lane: undefined,
    run: undefined,
    event: undefined,
    report: () => {},
    log: () => {},
    signal: new AbortController().signal,
    compute: async () => {
      const problem = 'is missing; give a function that stands in for the module'
      throw new SluiceError('INVALID_OPTION', { field: 'context.compute', problem })
    },
  }
  const { payload: _, ...rest } = plain // given beside the context, and checked
  checkOptions('runHandler context', given, Object.keys(rest))
  checkFields(schema, given, 'context')
  const said = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...plain, ...Object.fromEntries(said) }
}
