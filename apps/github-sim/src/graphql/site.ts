/**
 * Where in a query something stands: the way to it through the text, and what the schema knows at that place.
 */
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getNamedType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'

export interface Site {
  readonly path: readonly string[]
  readonly parentType: string
  readonly type: string
  readonly field: FieldNode | undefined
  readonly argument: string
  readonly argumentType: string
  readonly operation: string
}

function namedType(typeInfo: TypeInfo): string {
  const type = typeInfo.getType()
  return type ? getNamedType(type).name : ''
}

/** Walks to the node, remembering the way. */
export function findSite(schema: GraphQLSchema, document: DocumentNode, wanted: ASTNode): Site | undefined {
  const typeInfo = new TypeInfo(schema)
  const path: string[] = []
  const fields: FieldNode[] = []
  let operation = ''
  let site: Site | undefined
  const visitor: ASTVisitor = {
    enter(node) {
      if (node.kind === Kind.OPERATION_DEFINITION) operation = node.name?.value ?? ''
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
