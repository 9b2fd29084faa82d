/**
 * What the calls of a kit are given, in plain JavaScript: one thing without its brackets, a number that is none, an option beside a request.
 */
import { SluiceError } from '../support/errors.ts'
import { checkCount, checkId } from '../support/options.ts'

export function checkList(field: string, given: unknown): asserts given is readonly unknown[] {
  if (!Array.isArray(given)) throw new SluiceError('INVALID_OPTION', { field, problem: 'is no list; give [ … ]' })
}

/** Answers it. */
export function checkJobId(id: number): number {
  return checkCount('id of a job', checkId('job', id))
}

/** A delay beside the request would be forgotten, and so would a client whose transaction it was meant to join. */
export function refuseMore(call: string, more: readonly unknown[]): void {
  if (more.every((one) => one === undefined)) return
  const problem = 'takes no options and no client; what a job shall have goes into its request, as in send({ to }, { delay })'
  throw new SluiceError('INVALID_OPTION', { field: `kit.${call}`, problem })
}
