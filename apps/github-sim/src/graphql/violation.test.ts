import { describe, expect, test } from 'vitest'
import { planQuery } from './plan.ts'
import { createStage } from './stage.suite.ts'

const table: [query: string, path: string[], extensions: Record<string, unknown>, message: string][] = [
  [
    '{ viewer { nickname } }',
    ['query', 'viewer', 'nickname'],
    { code: 'undefinedField', typeName: 'User', fieldName: 'nickname' },
    "Field 'nickname' doesn't exist on type 'User'",
  ],
  [
    'query Named { node(id: "x") { ... on Repository { nickname } } }',
    ['query Named', 'node', '... on Repository', 'nickname'],
    { code: 'undefinedField', typeName: 'Repository', fieldName: 'nickname' },
    "Field 'nickname' doesn't exist on type 'Repository'",
  ],
  [
    '{ viewer { repositories(first: 1, color: 2) { totalCount } } }',
    ['query', 'viewer', 'repositories', 'color'],
    { code: 'argumentNotAccepted', name: 'repositories', typeName: 'Field', argumentName: 'color' },
    "Field 'repositories' doesn't accept argument 'color'",
  ],
  [
    '{ user { login } }',
    ['query', 'user'],
    { code: 'missingRequiredArguments', className: 'Field', name: 'user', arguments: 'login' },
    "Field 'user' is missing required arguments: login",
  ],
  [
    '{ viewer { repositories(first: "ten") { totalCount } } }',
    ['query', 'viewer', 'repositories', 'first'],
    { code: 'argumentLiteralsIncompatible', typeName: 'Field', argumentName: 'first' },
    `Argument 'first' on Field 'repositories' has an invalid value ("ten"). Expected type 'Int'.`,
  ],
  [
    '{ viewer }',
    ['query', 'viewer'],
    { code: 'selectionMismatch', nodeName: "field 'viewer'", typeName: 'User' },
    "Field must have selections (field 'viewer' returns User but has no selections. Did you mean 'viewer { ... }'?)",
  ],
  [
    '{ viewer { login { first } } }',
    ['query', 'viewer', 'login'],
    { code: 'selectionMismatch', nodeName: "field 'login'", typeName: 'String' },
    "Selections can't be made on scalars (field 'login' returns String but has selections)",
  ],
  [
    '{ node(id: "x") { ... on Starship { id } } }',
    ['query', 'node', '... on Starship'],
    { code: 'undefinedType', typeName: 'Starship' },
    "No such type Starship, so it can't be a fragment condition",
  ],
  [
    '{ viewer { ... on Issue { title } } }',
    ['query', 'viewer', '... on Issue'],
    { code: 'cannotSpreadFragment', typeName: 'Issue', fragmentName: 'unknown', parentName: 'User' },
    "Fragment on Issue can't be spread inside User",
  ],
  [
    '{ viewer { ...Missing } }',
    ['query', 'viewer', '... Missing'],
    { code: 'useAndDefineFragment', fragmentName: 'Missing' },
    'Fragment Missing was used, but not defined',
  ],
  [
    '{ viewer { login } } fragment Spare on User { id }',
    ['fragment Spare'],
    { code: 'useAndDefineFragment', fragmentName: 'Spare' },
    'Fragment Spare was defined, but not used',
  ],
  [
    '{ viewer { ...Loop } } fragment Loop on User { login ...Loop }',
    ['fragment Loop', '... Loop'],
    { code: 'infiniteLoop', fragmentName: 'Loop' },
    'Fragment Loop contains an infinite loop',
  ],
  [
    'query Q { user(login: $who) { id } }',
    ['query Q', 'user', 'login'],
    { code: 'variableNotDefined', operationName: 'Q', variableName: 'who' },
    'Variable $who is used by Q but not declared',
  ],
  [
    'query ($who: String!) { viewer { id } }',
    ['query'],
    { code: 'variableNotUsed', variableName: 'who' },
    'Variable $who is declared by anonymous query but not used',
  ],
  [
    'query ($who: Int!) { user(login: $who) { id } }',
    ['query', 'user', 'login'],
    { code: 'variableMismatch', variableName: 'who', typeName: 'Int!', argumentName: 'login', errorMessage: 'Type mismatch' },
    'Type mismatch on variable $who and argument login (Int! / String!)',
  ],
  [
    '{ viewer { a: login a: name } }',
    ['query', 'viewer', 'a'],
    { code: 'fieldConflict', fieldName: 'login' },
    "Field 'login' has a field conflict: a: login or a: name?",
  ],
  [
    '{ viewer { login @shout } }',
    ['query', 'viewer', 'login'],
    { code: 'undefinedDirective', directiveName: 'shout' },
    'Directive @shout is not defined',
  ],
]

describe('violations', () => {
  test.each(table)("[G-07] %s is refused in GitHub's words", async (query, path, extensions, message) => {
    const { status, data, errors, points } = await createStage().ask(query)
    expect({ status, data, points }).toEqual({ status: 200, data: undefined, points: 1 })
    expect(errors).toEqual([{ path, extensions, locations: [{ line: 1, column: expect.any(Number) }], message }])
  })

  test('[G-07] every violation is reported, each with its place', async () => {
    const { errors } = await createStage().ask('{\n  viewer {\n    nickname\n    shoeSize\n  }\n}')
    expect(errors!.map(({ locations }) => locations[0])).toEqual([
      { line: 3, column: 5 },
      { line: 4, column: 5 },
    ])
  })

  test('[G-07] a query that cannot be parsed says where', async () => {
    const { errors } = await createStage().ask('{ viewer {')
    expect(errors).toEqual([{ locations: [{ line: 1, column: 11 }], message: expect.stringMatching(/^Parse error.*\[1, 11\]$/) }])
  })

  test('[G-07] nothing can be written', async () => {
    const { data, errors } = await createStage().ask('mutation { addStar(input: { starrableId: "x" }) { clientMutationId } }')
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ message: 'Schema is not configured to execute mutation operation.' }])
  })

  test('[G-07] a variable of the wrong value is refused before the query runs', async () => {
    const query =
      'query ($login: String!, $oid: GitObjectID) { user(login: $login) { repository(name: "x") { object(oid: $oid) { id } } } }'
    const { ask } = createStage()
    expect((await ask(query)).errors).toEqual([
      {
        extensions: { value: null, problems: [{ path: [], explanation: 'Expected value to not be null' }] },
        locations: [{ line: 1, column: 8 }],
        message: 'Variable $login of type String! was provided invalid value',
      },
    ])
    const { errors } = await ask(query, { login: 'ada', oid: 'main' })
    expect(errors).toMatchObject([
      { message: 'Variable $oid of type GitObjectID was provided invalid value', extensions: { value: 'main' } },
    ])
  })

  test('[G-07] of several operations one must be named', async () => {
    const { send } = createStage()
    const query = 'query A { viewer { login } } query B { viewer { databaseId } }'
    expect((await send({ query })).errors).toEqual([{ message: 'An operation name is required' }])
    expect((await send({ query, operationName: 'C' })).errors).toEqual([{ message: 'No operation named "C"' }])
    expect(await send({ query, operationName: 'B' })).toMatchObject({ data: { viewer: { databaseId: 1001 } }, operation: 'B' })
  })

  test.each([
    [null, 'Problems parsing JSON'],
    ['{ viewer { login } }', 'Problems parsing JSON'],
    [{}, 'A query attribute must be specified and must be a string.'],
    [{ query: 1 }, 'A query attribute must be specified and must be a string.'],
    [{ query: '{ viewer { login } }', variables: 'x' }, 'Variables must be an object, and the name of the operation a string.'],
  ])('[G-07] the body %j is a bad request and costs nothing', async (body, message) => {
    expect(await createStage().send(body)).toMatchObject({ status: 400, message, points: 0 })
  })

  test('[G-07] a text in use is parsed and checked once', () => {
    const text = '{ viewer { login databaseId } }'
    const plan = planQuery(text)
    const planOthers = (prefix: string, count: number) => {
      for (let at = 0; at < count; at++) planQuery(`{ ${prefix}${at}: viewer { login } }`)
    }
    planOthers('a', 400)
    expect(planQuery(text)).toBe(plan)
    planOthers('b', 400)
    expect(planQuery(text)).toBe(plan)
    planOthers('c', 600)
    expect(planQuery(text)).not.toBe(plan)
  })
})
