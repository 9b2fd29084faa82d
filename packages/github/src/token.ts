/**
 * A token as the client takes it: sealed, opened only for the moment in which the request is made.
 *
 * Its characters are checked before `fetch` sees them, because `fetch` refuses a header with a line break by an error that
 * quotes the whole header. A server can echo a request, too, so what it says is cleaned of the token before anybody reads it.
 */
import type { Answer } from './answer/answer.ts'
import { GithubError } from './errors.ts'

export interface Token {
  reveal(): string
}

export function openToken(token: Token): string {
  const text = token.reveal()
  if (typeof text !== 'string' || !/^[\x21-\x7e]{1,1000}$/.test(text)) throw new GithubError('GITHUB_BAD_TOKEN')
  return text
}

/** The answer without the token in any word that a server can put there. Data is left as it is: it is no message. */
export function withoutToken<T>(answer: Answer<T>, token: string): Answer<T> {
  const clean = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll(token, '[token]') : value)
  if (answer.type === 'ok')
    return { ...answer, errors: answer.errors.map((error) => ({ ...error, message: clean(error.message) as string })) }
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [key, key === 'type' ? value : clean(value)]),
  ) as Answer<T>
}
