/**
 * An account belongs to one GitHub: the public one, an Enterprise, a simulator. Its ids mean other people anywhere else, and its token is nobody else's business, so
 * a process that asks another one leaves the user alone.
 */
import type { Github } from '@sluice/github'
import { CollectorError } from '../errors.ts'
import type { User } from './user.ts'

/** Nothing when it is the same. */
export function findElsewhere(
  { id, login, apiUrl }: Pick<User, 'id' | 'login' | 'apiUrl'>,
  github: Pick<Github, 'baseUrl'>,
): CollectorError | undefined {
  if (apiUrl === github.baseUrl) return undefined
  return new CollectorError('USER_ELSEWHERE', { user: id, login, address: apiUrl, here: github.baseUrl })
}

export function checkSameGithub(user: Pick<User, 'id' | 'login' | 'apiUrl'>, github: Pick<Github, 'baseUrl'>): void {
  const elsewhere = findElsewhere(user, github)
  if (elsewhere) throw elsewhere
}
