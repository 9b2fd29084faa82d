/**
 * What a query will cost, before it is sent, by GitHub's published formula.
 *
 * Every connection is fetched once for each node above it, all pages taken as full: `requests` is the sum over connections of
 * the product of the page sizes around each, and the points are requests / 100, rounded, at least 1. `nodes` is the same sum
 * with the connection's own page size; GitHub refuses more than 500,000. A connection is a field with `first` or `last`; one
 * that is only asked for its `totalCount` needs neither and is not told apart from a plain field without the schema.
 *
 * The sums are linear in the number of nodes above, so a fragment is counted once however often it is spread. What cannot be
 * known (a variable without a value) counts as a full page of 100, so that the estimate errs on the dear side.
 */
import { GithubError } from '../errors.ts'
import { type Arguments, parseQuery, type Query, type Selection, type Value } from './query.ts'

export interface QueryCost {
  readonly points: number
  readonly nodes: number
}

type Sum = { readonly requests: number; readonly nodes: number }

const pageSizeMax = 100
const nothing: Sum = { requests: 0, nodes: 0 }
const add = (a: Sum, b: Sum): Sum => ({ requests: a.requests + b.requests, nodes: a.nodes + b.nodes })

/** Of several operations the dearest: a call names none. */
export function countCost(query: string, variables: Record<string, unknown> = {}): QueryCost {
  const parsed = parseQuery(query)
  const sums = parsed.operations.map(({ defaults, selections }) => countOperation(parsed, defaults, selections, variables))
  const requests = Math.max(...sums.map((sum) => sum.requests))
  return { points: Math.max(1, Math.round(requests / 100)), nodes: Math.max(...sums.map((sum) => sum.nodes)) }
}

function countOperation(
  { fragments }: Query,
  defaults: Arguments,
  selections: readonly Selection[],
  variables: Record<string, unknown>,
): Sum {
  const counted = new Map<string, Sum | 'counting'>()

  /** A variable that is not given has its default; one without a default is undefined. */
  const valueOf = (value: Value | undefined): unknown => {
    if (value === undefined || value === 'other') return value
    if ('literal' in value) return value.literal
    const given = Object.hasOwn(variables, value.variable) ? variables[value.variable] : undefined
    const standard = defaults.get(value.variable)
    return given === undefined && standard !== undefined && standard !== 'other' && 'literal' in standard
      ? standard.literal
      : given
  }

  /** Undefined for what is no connection. */
  const pageSizeOf = (given: Arguments): number | undefined => {
    const sizes = ['first', 'last'].flatMap((key) => {
      const value = given.get(key)
      const size = valueOf(value)
      if (value === undefined || size === null) return []
      return [typeof size === 'number' && Number.isFinite(size) ? Math.max(0, size) : pageSizeMax]
    })
    return sizes.length === 0 ? undefined : Math.max(...sizes)
  }

  const isLeftOut = ({ directives }: Selection): boolean =>
    valueOf(directives.get('skip')?.get('if')) === true || valueOf(directives.get('include')?.get('if')) === false

  const countFragment = (name: string): Sum => {
    const known = counted.get(name)
    const body = fragments.get(name)
    if (known === 'counting' || body === undefined)
      throw new GithubError('GITHUB_BAD_QUERY', {
        problem: `fragment ${name} ${known ? 'contains itself' : 'is missing'}`,
        place: '0',
      })
    if (known) return known
    counted.set(name, 'counting')
    const sum = countAll(body)
    counted.set(name, sum)
    return sum
  }

  const countOne = (selection: Selection): Sum => {
    if (isLeftOut(selection)) return nothing
    if (selection.spread !== undefined) return countFragment(selection.spread)
    const inner = countAll(selection.selections)
    const size = pageSizeOf(selection.arguments)
    return size === undefined ? inner : { requests: 1 + size * inner.requests, nodes: size * (1 + inner.nodes) }
  }

  const countAll = (all: readonly Selection[]): Sum => all.map(countOne).reduce(add, nothing)
  return countAll(selections)
}
