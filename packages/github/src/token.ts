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

/** Shorter texts occur by chance, and are no secrets. */
const secretLengthMin = 8

/** The answer without the token in anything that a server can put there, but for the data, which is no message. */
export function withoutToken<T>(answer: Answer<T>, token: string): Answer<T> {
  if (token.length < secretLengthMin) return answer
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(token, '[token]')
    if (Array.isArray(value)) return value.map(clean)
    return isPlain(value) ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, clean(part)])) : value
  }
  const { data, ...rest } = { data: undefined, ...answer }
  return { ...(clean(rest) as Answer<T>), ...(answer.type === 'ok' ? { data } : {}) } as Answer<T>
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
