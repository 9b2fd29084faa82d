/**
 * The shape of a GraphQL query, as far as its cost depends on it: operations, fragments, fields with their arguments, and the
 * directives that leave a field out. A parser by recursive descent over the tokens; it takes what the grammar takes and checks
 * no types, because GitHub does.
 */
import { GithubError } from '../errors.ts'
import { cut, type QueryToken } from './tokens.ts'

/** `variable` names one; `other` is a value that cannot be a page size or a condition. */
export type Value = { readonly variable: string } | { readonly literal: number | boolean | null } | 'other'
export type Arguments = ReadonlyMap<string, Value>

export interface Selection {
  /** Field and inline fragment have selections of their own, a spread has the name of its fragment. */
  readonly spread: string | undefined
  readonly arguments: Arguments
  readonly directives: ReadonlyMap<string, Arguments>
  readonly selections: readonly Selection[]
}

export interface Query {
  readonly operations: readonly { readonly defaults: Arguments; readonly selections: readonly Selection[] }[]
  readonly fragments: ReadonlyMap<string, readonly Selection[]>
}

const depthMax = 100
const none: Arguments = new Map()

export function parseQuery(text: string): Query {
  const tokens = cut(text)
  let at = 0
  let depth = 0
  const peek = (): QueryToken => tokens[at] as QueryToken
  const is = (mark: string): boolean => peek().kind === 'mark' && peek().text === mark
  const fail = (problem: string): GithubError => new GithubError('GITHUB_BAD_QUERY', { problem, place: String(peek().at) })
  const take = (mark: string): boolean => is(mark) && (at += 1) > 0
  const expect = (mark: string): void => {
    if (!take(mark)) throw fail(`"${mark}" is missing`)
  }
  const name = (): string => {
    if (peek().kind !== 'name') throw fail('a name is missing')
    const { text } = peek()
    at += 1
    return text
  }
  const deeper = <T>(work: () => T): T => {
    depth += 1
    if (depth > depthMax) throw fail('the nesting is too deep')
    const result = work()
    depth -= 1
    return result
  }

  function value(): Value {
    if (take('$')) return { variable: name() }
    if (is('[') || is('{')) return deeper(composite)
    const { kind, text } = peek()
    if (kind === 'mark' || kind === 'end') throw fail('a value is missing')
    at += 1
    if (kind === 'number') return { literal: Number(text) }
    if (kind === 'string') return 'other'
    return text === 'true' || text === 'false' ? { literal: text === 'true' } : text === 'null' ? { literal: null } : 'other'
  }

  function composite(): Value {
    if (take('[')) while (!take(']')) value()
    else {
      expect('{')
      while (!take('}')) {
        name()
        expect(':')
        value()
      }
    }
    return 'other'
  }

  function argumentsOf(): Arguments {
    if (!take('(')) return none
    const found = new Map<string, Value>()
    do {
      const key = name()
      expect(':')
      found.set(key, value())
    } while (!take(')'))
    return found
  }

  function directives(): Map<string, Arguments> {
    const found = new Map<string, Arguments>()
    while (take('@')) found.set(name(), argumentsOf())
    return found
  }

  function selectionSet(): Selection[] {
    return deeper(() => {
      expect('{')
      const found: Selection[] = []
      do found.push(take('...') ? fragmentUse() : field())
      while (!take('}'))
      return found
    })
  }

  function field(): Selection {
    name()
    if (take(':')) name()
    return { spread: undefined, arguments: argumentsOf(), directives: directives(), selections: is('{') ? selectionSet() : [] }
  }

  function fragmentUse(): Selection {
    const isSpread = peek().kind === 'name' && peek().text !== 'on'
    if (isSpread) return { spread: name(), arguments: none, directives: directives(), selections: [] }
    if (peek().kind === 'name') typeCondition()
    return { spread: undefined, arguments: none, directives: directives(), selections: selectionSet() }
  }

  function typeCondition(): void {
    if (name() !== 'on') throw fail('"on" is missing')
    name()
  }

  function type(): void {
    if (take('[')) {
      deeper(type)
      expect(']')
    } else name()
    take('!')
  }

  function variables(): Arguments {
    if (!take('(')) return none
    const defaults = new Map<string, Value>()
    do {
      expect('$')
      const key = name()
      expect(':')
      type()
      if (take('=')) defaults.set(key, value())
      directives()
    } while (!take(')'))
    return defaults
  }

  const operations: Query['operations'][number][] = []
  const fragments = new Map<string, readonly Selection[]>()
  while (peek().kind !== 'end') {
    const word = is('{') ? 'query' : name()
    if (word === 'fragment') {
      const key = name()
      typeCondition()
      directives()
      fragments.set(key, selectionSet())
    } else if (['query', 'mutation', 'subscription'].includes(word)) {
      if (peek().kind === 'name') name()
      const defaults = variables()
      directives()
      operations.push({ defaults, selections: selectionSet() })
    } else throw fail('neither an operation nor a fragment')
  }
  if (operations.length === 0) throw fail('the operation is missing')
  return { operations, fragments }
}
