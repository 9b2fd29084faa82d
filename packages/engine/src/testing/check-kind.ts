/**
 * What is given as a kind, in plain JavaScript: a run has a name too, and a request is what comes of calling a kind.
 */
import { SluiceError } from '../support/errors.ts'

export function checkKind(field: string, given: unknown): void {
  const has = (name: string): boolean => typeof given === 'function' && name in given
  if (has('kindName') && has('parse')) return
  const problem = has('kindName')
    ? 'is a run and no kind; give one of its `kinds`'
    : 'is no kind; give what defineKind made, without calling it'
  throw new SluiceError('INVALID_OPTION', { field, problem })
}
