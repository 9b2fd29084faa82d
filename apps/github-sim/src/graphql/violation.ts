/**
 * Violations of the schema, in the shape in which GitHub's server reports them: a path through the query's text, a code
 * with its details, a place, and its own wording. The rules are those of the GraphQL specification; only the words differ.
 */
import {
  type ASTNode,
  type DocumentNode,
  FieldsOnCorrectTypeRule,
  FragmentsOnCompositeTypesRule,
  type GraphQLError,
  type GraphQLSchema,
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
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql'
import type { SentError } from './failure.ts'
import { findSite, type Site } from './site.ts'

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
