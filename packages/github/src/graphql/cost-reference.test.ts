import fc from 'fast-check'
import {
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import { expect, test } from 'vitest'
import { countCost } from './cost.ts'
import { parseQuery } from './query.ts'

/** The formula as the documentation tells it: go down from the root, carry the number of nodes above, add at each connection. */
function reference(query: string, variables: Record<string, unknown>): { points: number; nodes: number } {
  const document = parse(query)
  const fragments = new Map(
    document.definitions
      .filter((part): part is FragmentDefinitionNode => part.kind === Kind.FRAGMENT_DEFINITION)
      .map((part) => [part.name.value, part.selectionSet]),
  )
  const operation = document.definitions.find((part): part is OperationDefinitionNode => part.kind === Kind.OPERATION_DEFINITION)!
  const defaults = new Map(operation.variableDefinitions?.map((part) => [part.variable.name.value, part.defaultValue]))
  const sizeOf = (value: ValueNode | undefined): number =>
    value?.kind === Kind.VARIABLE
      ? Number(variables[value.name.value] ?? sizeOf(defaults.get(value.name.value)))
      : Number((value as { value: string }).value)
  let [requests, nodes] = [0, 0]
  const visit = (set: SelectionSetNode | undefined, above: number): void => {
    for (const part of set?.selections ?? []) {
      if (part.kind === Kind.FRAGMENT_SPREAD) visit(fragments.get(part.name.value), above)
      else if (part.kind === Kind.INLINE_FRAGMENT) visit(part.selectionSet, above)
      else {
        const page = part.arguments?.find(({ name }) => name.value === 'first' || name.value === 'last')
        if (page) {
          requests += above
          nodes += above * sizeOf(page.value)
        }
        visit(part.selectionSet, page ? above * sizeOf(page.value) : above)
      }
    }
  }
  visit(operation.selectionSet, 1)
  return { points: Math.max(1, Math.round(requests / 100)), nodes }
}

const page = fc.oneof(fc.integer({ min: 1, max: 100 }).map(String), fc.constantFrom('$small', '$large', '$standard'))
const other = fc.constantFrom(
  '',
  'orderBy: { field: NAME, first: 3 } ',
  'ids: ["first: 5", "\\"{"] ',
  'text: """first: 9 " {""" ',
  'affiliation: [OWNER, null] ',
)
const name = fc.constantFrom('repositories', 'issues', 'on', 'query', 'fragment', 'first', 'nodes', '_x1')
const { set } = fc.letrec<{ set: string; part: string }>((tie) => ({
  set: fc.array(tie('part'), { minLength: 1, maxLength: 4, depthIdentifier: 'query' }).map((parts) => `{ ${parts.join(' ')} }`),
  part: fc.oneof(
    { depthIdentifier: 'query', maxDepth: 5, depthSize: 'max' },
    name,
    fc.constantFrom('...A', '...B @include(if: true)'),
    fc.tuple(name, other).map(([field, more]) => (more === '' ? field : `${field}(${more})`)),
    {
      weight: 3,
      arbitrary: fc
        .tuple(name, fc.constantFrom('first', 'last'), page, other, tie('set'))
        .map(([field, arg, size, more, inner]) => `${field}(${more}${arg}: ${size}) ${inner}`),
    },
    fc.tuple(name, name, tie('set')).map(([alias, field, inner]) => `${alias}: ${field} ${inner}`),
    fc
      .tuple(fc.constantFrom('... on User', '...', '... @skip(if: false)'), tie('set'))
      .map(([head, inner]) => `${head} ${inner}`),
  ),
}))
const withoutSpreads = set.map((text) => text.replaceAll(/\.\.\.[AB](?: @include\(if: true\))?/g, 'id'))
const query = fc
  .tuple(set, withoutSpreads, withoutSpreads)
  .map(
    ([root, a, b]) => `query Q($small: Int!, $large: Int, $standard: Int = 7) ${root} fragment A on X ${a} fragment B on Y ${b}`,
  )

test('[G-06] for any query, our count is the one of the documentation over GraphQL’s own parser', () => {
  const variables = { small: 2, large: 90 }
  let dear = 0
  fc.assert(
    fc.property(query, (text) => {
      const expected = reference(text, variables)
      expect(countCost(text, variables)).toEqual(expected)
      expect(countCost(print(parse(text)), variables)).toEqual(expected)
      if (expected.points > 1) dear += 1
    }),
    { numRuns: 300 },
  )
  expect(dear).toBeGreaterThan(20)
})

test('[G-06] whatever GraphQL’s own parser reads is read', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '(',
    ')',
    'a',
    ':',
    '1',
    '"b"',
    '...',
    'on',
    '$c',
    '@d',
    '[',
    ']',
    'query',
    'fragment',
    '#e\n',
    '!',
    '=',
  )
  const reads = (work: () => unknown): boolean => {
    try {
      work()
      return true
    } catch (error) {
      return !/GITHUB_BAD_QUERY|GraphQLError/.test(`${(error as { code?: string }).code} ${(error as Error).name}`)
    }
  }
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
      const text = `{ a ${parts.join(' ')} }`
      if (!reads(() => parse(text))) return
      expect(
        reads(() => parseQuery(text)),
        text,
      ).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
