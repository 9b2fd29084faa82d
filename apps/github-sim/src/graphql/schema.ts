/**
 * GitHub's schema, cut down, with a resolver on every field that is more than a property. It is built once a process: it
 * holds no data, everything it answers comes from the context of a request.
 */
import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLFieldResolver,
  type GraphQLScalarType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  isScalarType,
} from 'graphql'
import { accountFields } from './account.ts'
import { commitFields } from './commit.ts'
import { connectionFields } from './connection.ts'
import type { Context } from './context.ts'
import { issueFields } from './issue.ts'
import { pullRequestFields } from './pull-request.ts'
import { queryFields } from './query.ts'
import { repositoryFields } from './repository.ts'
import { scalars } from './scalars.ts'

type Resolvers = Readonly<Record<string, Readonly<Record<string, GraphQLFieldResolver<never, Context, never>>>>>

/** The same place seen from the sources and from the build. */
const file = new URL('../../src/graphql/schema.graphql', import.meta.url)

const resolvers: Resolvers = {
  ...queryFields,
  ...accountFields,
  ...repositoryFields,
  ...commitFields,
  ...issueFields,
  ...pullRequestFields,
  ...connectionFields,
}

function buildServed(): GraphQLSchema {
  const schema = buildSchema(readFileSync(file, 'utf8'))
  for (const type of Object.values(schema.getTypeMap())) {
    if (isScalarType(type)) Object.assign(type, scalars[type.name] satisfies Partial<GraphQLScalarType> | undefined)
    if (isAbstractType(type)) type.resolveType = (value: { kind: string }) => value.kind
    if (!isObjectType(type)) continue
    for (const [name, field] of Object.entries(type.getFields())) {
      const resolve = resolvers[type.name]?.[name]
      if (resolve) field.resolve = resolve as GraphQLFieldResolver<unknown, Context>
    }
  }
  return schema
}

export const schema = buildServed()
