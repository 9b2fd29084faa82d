import { schema as published } from '@octokit/graphql-schema'
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  parse,
  validate,
  validateSchema,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { collectorQueries } from './collector-queries.ts'
import { schema } from './schema.ts'
import { createStage } from './stage.suite.ts'

/** The published text defines two fields twice; otherwise it is valid. */
const full = buildSchema(published.idl, { assumeValidSDL: true })

/** Everything a query can rely on, one line each. */
function linesOf(served: typeof schema): Set<string> {
  const lines = new Set<string>()
  const argument = ({ name, type, defaultValue }: GraphQLArgument | GraphQLInputField) =>
    `${name}: ${String(type)} = ${JSON.stringify(defaultValue)}`
  for (const type of Object.values(served.getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) continue
    lines.add(`${type.constructor.name} ${type.name}`)
    if (isEnumType(type)) for (const { name } of type.getValues()) lines.add(`${type.name}.${name}`)
    if (isUnionType(type)) for (const { name } of type.getTypes()) lines.add(`${type.name} | ${name}`)
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) lines.add(`${type.name}.${argument(field)}`)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const { name } of type.getInterfaces()) lines.add(`${type.name} & ${name}`)
    for (const field of Object.values<GraphQLField<unknown, unknown>>(type.getFields())) {
      lines.add(`${type.name}.${field.name}: ${String(field.type)}`)
      for (const one of field.args) lines.add(`${type.name}.${field.name}(${argument(one)})`)
    }
  }
  return lines
}

describe('schema', () => {
  test("[G-07] every type, field, argument, default and value served exists in GitHub's schema with the same type", () => {
    const known = linesOf(full)
    const served = linesOf(schema)
    expect([...served].filter((line) => !known.has(line))).toEqual([])
    expect(served.size).toBeGreaterThan(300)
    expect(validateSchema(schema)).toEqual([])
  })

  test('[G-07] no argument that GitHub demands is left out', () => {
    for (const type of Object.values(schema.getTypeMap())) {
      const original = full.getType(type.name)
      if (!isObjectType(type) || !isObjectType(original)) continue
      for (const [name, field] of Object.entries(type.getFields())) {
        const args = original.getFields()[name]?.args ?? []
        const demanded = args.filter((one) => String(one.type).endsWith('!')).map((one) => one.name)
        expect(field.args.map((one) => one.name)).toEqual(expect.arrayContaining(demanded))
      }
    }
  })

  test.each(Object.entries(collectorQueries))(
    "[G-06] the query %s is valid in GitHub's schema and here, and runs",
    async (_, query) => {
      const document = parse(query)
      expect(validate(full, document)).toEqual([])
      expect(validate(schema, document)).toEqual([])
      const { world, ask } = createStage()
      const account = world.byLogin('ada')!
      const [repo] = world.reposOf(account.id, ['OWNER'])
      const variables = {
        first: 10,
        after: null,
        login: 'ada',
        user: account.nodeId,
        repo: repo!.nodeId,
        oid: repo!.head,
        name: repo!.name,
      }
      const { data, errors } = await ask(query, { ...variables, since: '2020-01-01T00:00:00Z', by: 'PUSHED_AT', of: ['OWNER'] })
      expect(errors).toBeUndefined()
      expect(data).not.toBeNull()
    },
  )
})
