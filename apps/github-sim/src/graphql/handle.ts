/**
 * Answers one GraphQL request: plan, weigh, refuse what is too much, then run it over the world.
 *
 * The points it returns are what the request cost; charging them, and everything else of HTTP, is the caller's. A refused
 * query costs one point, a timeout twice its points. What chaos can only decide knowing the query, it decides through
 * `chaosFor`.
 */
import { execute, type GraphQLError, getVariableValues, Kind, type OperationDefinitionNode, print } from 'graphql'
import type { Context } from './context.ts'
import { nodesMax, type Weighed, weigh } from './cost.ts'
import { heavy, type SentError, sendError, sendFailure } from './failure.ts'
import type { ChaosFor, GraphqlTrap, Host } from './host.ts'
import { chooseOperation, type Plan, planQuery } from './plan.ts'
import { readRequest } from './request.ts'
import { schema } from './schema.ts'
import { insufficientScopes, rateLimited, timedOut } from './trouble.ts'

export interface GraphqlRequest {
  readonly accountId: number
  readonly body: unknown
  readonly now: number
  /** False for a token that was granted no repository. */
  readonly mayRead?: boolean | undefined
  /** Asked once a query that could run, before it runs. */
  readonly chaosFor?: ChaosFor | undefined
}

export interface GraphqlAnswer {
  readonly status: number
  readonly body: unknown
  readonly points: number
  /** The operation's name, if the query could be read and has one. */
  readonly operation: string | undefined
}

type Variables = Readonly<Record<string, unknown>>
type ReadyPlan = Extract<Plan, { type: 'ready' }>

const refuse = (...errors: readonly SentError[]): GraphqlAnswer => ({
  status: 200,
  body: { errors },
  points: 1,
  operation: undefined,
})

export async function handleGraphql(host: Host, request: GraphqlRequest): Promise<GraphqlAnswer> {
  const asked = readRequest(request.body)
  if (asked.type === 'refused') {
    const refusal = { message: asked.message, documentation_url: 'https://docs.github.com/graphql', status: '400' }
    return { status: 400, body: refusal, points: 0, operation: undefined }
  }
  const plan = planQuery(asked.query)
  if (plan.type === 'refused') return refuse(...plan.errors)
  const operation = chooseOperation(plan.operations, asked.operationName)
  if (!('kind' in operation)) return refuse(operation)
  return { ...answerOperation(host, request, plan, operation, asked.variables), operation: operation.name?.value }
}

function answerOperation(
  host: Host,
  request: GraphqlRequest,
  plan: ReadyPlan,
  operation: OperationDefinitionNode,
  variables: Variables,
): GraphqlAnswer {
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables)
  if (errors) return refuse(...errors.map((error) => describeVariable(error, variables)))
  const weighed = weigh(schema, operation, plan.fragments, coerced)
  if (weighed.excesses.length > 0) return refuse(...weighed.excesses)
  if (weighed.nodes > nodesMax) return refuse(tooManyNodes(weighed.nodes))
  const trap = request.chaosFor?.(operation.name?.value, weighed)
  const sprung = springTrap(trap, host, request, operation, weighed)
  if (sprung) return sprung
  const { points } = weighed
  const { context, heavyNodes } = createContext(host, request, weighed, trap)
  const result = execute({
    schema,
    document: isDryRun(operation, coerced) ? budgetOnly(operation) : plan.document,
    operationName: operation.name?.value,
    variableValues: variables,
    contextValue: context,
  })
  if ('then' in result) throw new Error('A resolver must not wait: the world is in memory.')
  if (heavyNodes() > 2 * (host.heavyNodesMax ?? Number.POSITIVE_INFINITY)) return timeOut(502, host, request, points)
  if (trap?.trap === 'resource limits' && !result.errors) return { ...refuse(sendFailure(heavy())), points }
  const body = result.errors ? { data: result.data ?? null, errors: result.errors.map(sendError) } : { data: result.data }
  return { status: 200, body, points, operation: undefined }
}

/** Nobody can foresee a timeout, so its surcharge takes no more than is left. */
function timeOut(status: number, { budgets }: Host, { accountId, now }: GraphqlRequest, points: number): GraphqlAnswer {
  const { remaining } = budgets.state(accountId, 'graphql', now)
  const charged = Math.max(points, Math.min(2 * points, remaining))
  return { status, body: timedOut(now.toString(16).toUpperCase()), points: charged, operation: undefined }
}

/** What a trap answers without running the query. */
function springTrap(
  trap: GraphqlTrap | undefined,
  host: Host,
  request: GraphqlRequest,
  operation: OperationDefinitionNode,
  { points }: Weighed,
): GraphqlAnswer | undefined {
  switch (trap?.trap) {
    case 'rate limited':
      return { status: 200, body: rateLimited(request.accountId, trap.form), points: 0, operation: undefined }
    case 'timeout':
      return timeOut(trap.status, host, request, points)
    case 'insufficient scopes': {
      const [first] = operation.selectionSet.selections
      const field = first?.kind === Kind.FIELD ? first.name.value : 'viewer'
      return { status: 200, body: insufficientScopes(field, trap.needed, trap.granted), points, operation: undefined }
    }
    case 'resource limits':
    case undefined:
      return undefined
  }
}

function createContext(
  { world, budgets, heavyNodesMax }: Host,
  { accountId, mayRead = true, now }: GraphqlRequest,
  estimate: Weighed,
  trap: GraphqlTrap | undefined,
): { context: Context; heavyNodes: () => number } {
  const viewer = world.accounts.get(accountId)
  if (!viewer) throw new Error(`There is no account ${accountId}.`)
  const places = new Map<string, number>()
  const context: Context = {
    world,
    viewer,
    mayRead,
    estimate,
    budget: budgets.state(accountId, 'graphql', now),
    diff: (sha) => {
      const place = places.get(sha) ?? places.size + 1
      places.set(sha, place)
      if (heavyNodesMax !== undefined && place > heavyNodesMax) throw heavy()
    },
    list: () => {
      if (trap?.trap === 'resource limits') throw heavy()
    },
  }
  return { context, heavyNodes: () => places.size }
}

const budgetFields = (operation: OperationDefinitionNode) =>
  operation.selectionSet.selections.filter((one) => one.kind === Kind.FIELD && one.name.value === 'rateLimit')

function isDryRun(operation: OperationDefinitionNode, variables: Variables): boolean {
  return budgetFields(operation).some((one) => {
    const value = one.kind === Kind.FIELD ? one.arguments?.find(({ name }) => name.value === 'dryRun')?.value : undefined
    if (value?.kind === Kind.VARIABLE) return variables[value.name.value] === true
    return value?.kind === Kind.BOOLEAN && value.value
  })
}

/** The query without what it asks for: only its price. */
const budgetOnly = (operation: OperationDefinitionNode) => ({
  kind: Kind.DOCUMENT as const,
  definitions: [{ ...operation, selectionSet: { ...operation.selectionSet, selections: budgetFields(operation) } }],
})

const tooManyNodes = (nodes: number): SentError => ({
  type: 'MAX_NODE_LIMIT_EXCEEDED',
  message: `This query requests up to ${nodes.toLocaleString('en-US')} possible nodes which exceeds the maximum limit of ${nodesMax.toLocaleString('en-US')}.`,
})

function describeVariable(error: GraphQLError, given: Variables): SentError {
  const [node] = error.nodes ?? []
  const definition = node?.kind === Kind.VARIABLE_DEFINITION ? node : undefined
  const name = definition?.variable.name.value ?? ''
  const value = given[name] ?? null
  const explanation = value === null ? 'Expected value to not be null' : error.message
  return {
    extensions: { value, problems: [{ path: [], explanation }] },
    locations: error.locations?.map(({ line, column }) => ({ line, column })) ?? [],
    message: `Variable $${name} of type ${definition ? print(definition.type) : ''} was provided invalid value`,
  }
}
