/**
 * A GraphQL query cut into its tokens (October 2021 grammar, executable documents). Strings lose their content on the way:
 * nothing in a string can change what a query costs.
 */
import { GithubError } from '../errors.ts'

export interface QueryToken {
  readonly kind: 'mark' | 'name' | 'number' | 'string' | 'end'
  readonly text: string
  readonly at: number
}

/** Spaces, line ends, commas, comments and byte order marks mean nothing. */
const ignored = /(?:[\s,\uFEFF]|#[^\n\r]*)*/y
const patterns: readonly [QueryToken['kind'], RegExp][] = [
  ['mark', /\.\.\.|[!$&()[\]{}:=@|]/y],
  ['name', /[A-Za-z_]\w*/y],
  ['number', /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y],
  ['string', /"""(?:[^"\\]|\\(?:""")?|"(?!""))*"""/y],
  ['string', /"(?!"")(?:[^"\\\n\r]|\\.)*"/y],
]

export function cut(query: string): QueryToken[] {
  const tokens: QueryToken[] = []
  for (let at = skip(query, 0); at < query.length; ) {
    const token = match(query, at)
    tokens.push(token.kind === 'string' ? { ...token, text: '' } : token)
    at = skip(query, at + token.text.length)
  }
  return [...tokens, { kind: 'end', text: '', at: query.length }]
}

function skip(query: string, at: number): number {
  ignored.lastIndex = at
  ignored.test(query)
  return ignored.lastIndex
}

function match(query: string, at: number): QueryToken {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at
    const text = pattern.exec(query)?.[0]
    if (text !== undefined) return { kind, text, at }
  }
  throw new GithubError('GITHUB_BAD_QUERY', { problem: 'a character that belongs to no token', place: String(at) })
}
