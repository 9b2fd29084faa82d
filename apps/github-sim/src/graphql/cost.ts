/**
 * What a query costs and how much it may return, by GitHub's published formula, before it runs.
 *
 * Points: every connection is fetched once for each row above it, all pages being full; a hundredth of that sum, rounded, at
 * least one. Nodes: the rows that all pages could hold. A connection asked without a page size (for its count) adds nothing
 * to either.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromAST,
} from 'graphql'
import type { SentError } from './failure.ts'
import type { Estimate } from './host.ts'

const pageSizeMax = 100
export const nodesMax = 500_000
const lineCounts = new Set(['additions', 'deletions', 'changedFiles', 'changedFilesIfAvailable'])

export interface Weighed extends Estimate {
  /** Page sizes above the limit. */
  readonly excesses: readonly SentError[]
}

type Variables = Readonly<Record<string, unknown>>
export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>

export function weigh(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): Weighed {
  const sum = { fetches: 0, nodes: 0, pageSizeMax: 0, heavyNodes: 0 }
  const excesses: SentError[] = []

  const walk = (sets: readonly SelectionSetNode[], parent: string, rows: number, path: readonly string[]): void => {
    let isHeavy = false
    for (const group of mergeFields(sets, parent, fragments, variables).values()) {
      const [{ node, parent: owner }] = group
      const type = schema.getType(owner)
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
      if (!field) continue
      if (owner === 'Commit' && lineCounts.has(node.name.value)) isHeavy = true
      const here = [...path, node.alias?.value ?? node.name.value]
      let below = rows
      for (const name of ['first', 'last']) {
        const definition = field.args.find((argument) => argument.name === name)
        const written = node.arguments?.find((argument) => argument.name.value === name)
        if (!definition || !written) continue
        const size = valueFromAST(written.value, definition.type, variables)
        if (typeof size !== 'number') continue
        if (size > pageSizeMax) excesses.push(excess(node, name, size, here))
        sum.fetches += rows
        sum.nodes += rows * size
        sum.pageSizeMax = Math.max(sum.pageSizeMax, size)
        below = rows * size
        break
      }
      const result = getNamedType(field.type)
      if (isCompositeType(result))
        walk(
          group.flatMap((one) => one.node.selectionSet ?? []),
          result.name,
          below,
          here,
        )
    }
    if (isHeavy) sum.heavyNodes += rows
  }

  walk([operation.selectionSet], schema.getQueryType()?.name ?? 'Query', 1, [])
  const { fetches, ...rest } = sum
  return { points: Math.max(1, Math.round(fetches / 100)), ...rest, excesses }
}

interface Selected {
  readonly node: FieldNode
  readonly parent: string
}

/** The same field selected twice is one field; the same name under two types is two. */
function mergeFields(
  sets: readonly SelectionSetNode[],
  parent: string,
  fragments: Fragments,
  variables: Variables,
): Map<string, [Selected, ...Selected[]]> {
  const merged = new Map<string, [Selected, ...Selected[]]>()
  const gather = (set: SelectionSetNode, parent: string): void => {
    for (const selection of set.selections) {
      if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) continue
      if (getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] === false) continue
      if (selection.kind === Kind.FIELD) {
        const key = `${selection.alias?.value ?? selection.name.value} ${parent}`
        const known = merged.get(key)
        if (known) known.push({ node: selection, parent })
        else merged.set(key, [{ node: selection, parent }])
        continue
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection
      if (fragment) gather(fragment.selectionSet, fragment.typeCondition?.name.value ?? parent)
    }
  }
  for (const set of sets) gather(set, parent)
  return merged
}

function excess(node: FieldNode, argument: string, size: number, path: readonly string[]): SentError {
  const start = node.loc?.startToken
  return {
    type: 'EXCESSIVE_PAGINATION',
    path,
    locations: start ? [{ line: start.line, column: start.column }] : [],
    message: `Requesting ${size} records on the \`${node.name.value}\` connection exceeds the \`${argument}\` limit of ${pageSizeMax} records.`,
  }
}
