/**
 * Violations of the schema, in the shape in which GitHub's server reports them: a path through the query's text, a code
 * with its details, a place, and its own wording. The rules are those of the GraphQL specification; only the words differ.
 */
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  FieldsOnCorrectTypeRule,
  FragmentsOnCompositeTypesRule,
  type GraphQLError,
  type GraphQLSchema,
  getNamedType,
  Kind,
  KnownArgumentNamesRule,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownTypeNamesRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  PossibleFragmentSpreadsRule,
  ProvidedRequiredArgumentsRule,
  print,
  ScalarLeafsRule,
  specifiedRules,
  TypeInfo,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { SentError } from './failure.ts'

/** Where in the query a violation was found. */
interface Site {
  readonly path: readonly string[]
  readonly parentType: string
  readonly type: string
  readonly field: FieldNode | undefined
  readonly argument: string
  readonly argumentType: string
  readonly operation: string
}

interface Words {
  readonly message: string
  readonly extensions: Readonly<Record<string, unknown>>
}

const nameOf = (node: ASTNode | undefined) => (node && 'name' in node && node.name ? node.name.value : '')
const fieldName = ({ field }: Site) => field?.name.value ?? ''

const words = new Map<ValidationRule, (node: ASTNode, site: Site, error: GraphQLError) => Words>([
  [
    FieldsOnCorrectTypeRule,
    (node, { parentType }) => ({
      message: `Field '${nameOf(node)}' doesn't exist on type '${parentType}'`,
      extensions: { code: 'undefinedField', typeName: parentType, fieldName: nameOf(node) },
    }),
  ],
  [
    KnownArgumentNamesRule,
    (node, site) => ({
      message: `Field '${fieldName(site)}' doesn't accept argument '${nameOf(node)}'`,
      extensions: { code: 'argumentNotAccepted', name: fieldName(site), typeName: 'Field', argumentName: nameOf(node) },
    }),
  ],
  [
    ProvidedRequiredArgumentsRule,
    (node, _site, error) => {
      const missing = /argument "([^"]+)"/.exec(error.message)?.[1] ?? ''
      return {
        message: `Field '${nameOf(node)}' is missing required arguments: ${missing}`,
        extensions: { code: 'missingRequiredArguments', className: 'Field', name: nameOf(node), arguments: missing },
      }
    },
  ],
  [
    ValuesOfCorrectTypeRule,
    (node, site) => ({
      message: `Argument '${site.argument}' on Field '${fieldName(site)}' has an invalid value (${print(node)}). Expected type '${site.argumentType}'.`,
      extensions: { code: 'argumentLiteralsIncompatible', typeName: 'Field', argumentName: site.argument },
    }),
  ],
  [
    ScalarLeafsRule,
    (node, site) => {
      const name = fieldName(site)
      return {
        message:
          node.kind === Kind.FIELD
            ? `Field must have selections (field '${name}' returns ${site.type} but has no selections. Did you mean '${name} { ... }'?)`
            : `Selections can't be made on scalars (field '${name}' returns ${site.type} but has selections)`,
        extensions: { code: 'selectionMismatch', nodeName: `field '${name}'`, typeName: site.type },
      }
    },
  ],
  [
    KnownTypeNamesRule,
    (node) => ({
      message: `No such type ${nameOf(node)}, so it can't be a fragment condition`,
      extensions: { code: 'undefinedType', typeName: nameOf(node) },
    }),
  ],
  [
    FragmentsOnCompositeTypesRule,
    (node) => ({
      message: `Invalid fragment on type ${print(node)} (must be Union, Interface or Object)`,
      extensions: { code: 'fragmentOnNonCompositeType', typeName: print(node) },
    }),
  ],
  [
    PossibleFragmentSpreadsRule,
    (node, { parentType, type }) => ({
      message: `Fragment on ${type} can't be spread inside ${parentType}`,
      extensions: {
        code: 'cannotSpreadFragment',
        typeName: type,
        fragmentName: nameOf(node) || 'unknown',
        parentName: parentType,
      },
    }),
  ],
  [
    KnownFragmentNamesRule,
    (node) => ({
      message: `Fragment ${print(node)} was used, but not defined`,
      extensions: { code: 'useAndDefineFragment', fragmentName: print(node) },
    }),
  ],
  [
    NoUnusedFragmentsRule,
    (node) => ({
      message: `Fragment ${nameOf(node)} was defined, but not used`,
      extensions: { code: 'useAndDefineFragment', fragmentName: nameOf(node) },
    }),
  ],
  [
    NoFragmentCyclesRule,
    (node) => ({
      message: `Fragment ${nameOf(node)} contains an infinite loop`,
      extensions: { code: 'infiniteLoop', fragmentName: nameOf(node) },
    }),
  ],
  [
    NoUndefinedVariablesRule,
    (node, { operation }) => ({
      message: `Variable $${nameOf(node)} is used by ${operation || 'anonymous query'} but not declared`,
      extensions: { code: 'variableNotDefined', operationName: operation || 'anonymous query', variableName: nameOf(node) },
    }),
  ],
  [
    NoUnusedVariablesRule,
    (node, { operation }) => {
      const name = node.kind === Kind.VARIABLE_DEFINITION ? node.variable.name.value : ''
      return {
        message: `Variable $${name} is declared by ${operation || 'anonymous query'} but not used`,
        extensions: { code: 'variableNotUsed', variableName: name },
      }
    },
  ],
  [
    VariablesInAllowedPositionRule,
    (_node, site, error) => {
      const [variable = '', given = '', expected = ''] = [...error.message.matchAll(/"([^"]+)"/g)].map(([, text]) => text ?? '')
      return {
        message: `Type mismatch on variable ${variable} and argument ${site.argument} (${given} / ${expected})`,
        extensions: {
          code: 'variableMismatch',
          variableName: variable.slice(1),
          typeName: given,
          argumentName: site.argument,
          errorMessage: 'Type mismatch',
        },
      }
    },
  ],
  [
    OverlappingFieldsCanBeMergedRule,
    (node, _site, error) => ({
      message: `Field '${nameOf(node)}' has a field conflict: ${[...new Set(error.nodes?.map((one) => print(one).split('{')[0]?.trim()))].join(' or ')}?`,
      extensions: { code: 'fieldConflict', fieldName: nameOf(node) },
    }),
  ],
  [
    KnownDirectivesRule,
    (node) => ({
      message: `Directive @${nameOf(node)} is not defined`,
      extensions: { code: 'undefinedDirective', directiveName: nameOf(node) },
    }),
  ],
])

export function describeViolations(schema: GraphQLSchema, document: DocumentNode): SentError[] {
  return specifiedRules.flatMap((rule) =>
    validate(schema, document, [rule]).map((error) => {
      // A misplaced variable is reported at its declaration first and at its use last.
      const node = rule === VariablesInAllowedPositionRule ? error.nodes?.at(-1) : error.nodes?.[0]
      const site = node ? findSite(schema, document, node) : undefined
      const locations = error.locations?.slice(0, 1).map(({ line, column }) => ({ line, column })) ?? []
      const described = node && site ? words.get(rule)?.(node, site, error) : undefined
      return {
        path: site?.path ?? [],
        extensions: described?.extensions ?? { code: 'invalidQuery' },
        locations,
        message: described?.message ?? error.message,
      }
    }),
  )
}

function namedType(typeInfo: TypeInfo): string {
  const type = typeInfo.getType()
  return type ? getNamedType(type).name : ''
}

/** Walks to the node, remembering the way. */
function findSite(schema: GraphQLSchema, document: DocumentNode, wanted: ASTNode): Site | undefined {
  const typeInfo = new TypeInfo(schema)
  const path: string[] = []
  const fields: FieldNode[] = []
  let operation = ''
  let site: Site | undefined
  const visitor: ASTVisitor = {
    enter(node) {
      if (node.kind === Kind.OPERATION_DEFINITION) operation = nameOf(node)
      if (node.kind === Kind.FIELD) fields.push(node)
      const step = stepOf(node)
      if (step !== undefined) path.push(step)
      if (node !== wanted) return
      site = {
        path: [...path],
        parentType: typeInfo.getParentType()?.name ?? '',
        type: namedType(typeInfo),
        field: fields.at(-1),
        argument: typeInfo.getArgument()?.name ?? '',
        argumentType: String(typeInfo.getInputType() ?? ''),
        operation,
      }
    },
    leave(node) {
      if (node.kind === Kind.FIELD) fields.pop()
      if (stepOf(node) !== undefined) path.pop()
    },
  }
  visit(document, visitWithTypeInfo(typeInfo, visitor))
  return site
}

function stepOf(node: ASTNode): string | undefined {
  if (node.kind === Kind.OPERATION_DEFINITION) return node.name ? `${node.operation} ${node.name.value}` : node.operation
  if (node.kind === Kind.FRAGMENT_DEFINITION) return `fragment ${node.name.value}`
  if (node.kind === Kind.INLINE_FRAGMENT) return node.typeCondition ? `... on ${node.typeCondition.name.value}` : '...'
  if (node.kind === Kind.FRAGMENT_SPREAD) return `... ${node.name.value}`
  if (node.kind === Kind.FIELD) return node.alias?.value ?? node.name.value
  return node.kind === Kind.ARGUMENT ? node.name.value : undefined
}
