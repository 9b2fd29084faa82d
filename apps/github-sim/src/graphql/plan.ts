/**
 * From the text of a query to something that can run: parsed, checked against the schema, its operation chosen. Clients send
 * the same few texts over and over, so the newest plans are kept; what varies comes in variables.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql'
import type { Fragments } from './cost.ts'
import type { SentError } from './failure.ts'
import { schema } from './schema.ts'
import { describeViolations } from './violation.ts'

const plansMax = 500
const charactersMax = 1_000_000

export type Plan =
  | { readonly type: 'refused'; readonly errors: readonly SentError[] }
  | {
      readonly type: 'ready'
      readonly document: DocumentNode
      readonly operations: readonly OperationDefinitionNode[]
      readonly fragments: Fragments
    }

const plans = new Map<string, Plan>()

export function planQuery(text: string): Plan {
  const known = plans.get(text)
  if (known) {
    plans.delete(text)
    plans.set(text, known)
    return known
  }
  const plan = makePlan(text)
  plans.set(text, plan)
  if (plans.size > plansMax) plans.delete(plans.keys().next().value ?? '')
  return plan
}

function makePlan(text: string): Plan {
  if (text.length > charactersMax) return { type: 'refused', errors: [{ message: 'The query is too large.' }] }
  const document = parseQuery(text)
  if (document instanceof GraphQLError) return { type: 'refused', errors: [describeSyntax(document)] }
  if (validate(schema, document).length > 0) return { type: 'refused', errors: describeViolations(schema, document) }
  const operations = document.definitions.filter((one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION)
  const fragments = document.definitions.filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
  return { type: 'ready', document, operations, fragments: Object.fromEntries(fragments.map((one) => [one.name.value, one])) }
}

function parseQuery(text: string): DocumentNode | GraphQLError {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof GraphQLError) return error
    throw error
  }
}

function describeSyntax(error: GraphQLError): SentError {
  const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 }
  return { locations: [{ line, column }], message: `Parse error: ${error.message} at [${line}, ${column}]` }
}

/** The operation of that name, or the only one. */
export function chooseOperation(
  operations: readonly OperationDefinitionNode[],
  name: string | null | undefined,
): OperationDefinitionNode | SentError {
  if (name) return operations.find((one) => one.name?.value === name) ?? { message: `No operation named "${name}"` }
  const [only, ...others] = operations
  return only && others.length === 0 ? only : { message: 'An operation name is required' }
}
