import { describe, expect, test } from 'vitest'
import { createStage } from './stage.suite.ts'

const repositories = (inner: string, first: number | string = 100) => `repositories(first: ${first}) { nodes { ${inner} } }`
const issues = (first: number, inner = 'id') => `issues(first: ${first}) { nodes { ${inner} } }`

const table: [sentence: string, query: string, variables: Record<string, unknown>, points: number, nodes: number][] = [
  ['a query without lists costs one point', '{ viewer { login } rateLimit { cost } }', {}, 1, 0],
  ['a page of a hundred costs one point', `{ viewer { ${repositories('id')} } }`, {}, 1, 100],
  [
    'lists multiply by the rows above them: 1 + 100 + 100 × 50 fetches',
    `{ viewer { ${repositories(issues(50, 'timelineItems(last: 60) { nodes { __typename } }'))} } }`,
    {},
    51,
    305_100,
  ],
  [
    'a hundredth is rounded: 1 + 50 × 2 fetches',
    `{ viewer { ${repositories(`${issues(1)} pullRequests(last: 1) { nodes { id } }`, 50)} } }`,
    {},
    1,
    150,
  ],
  [
    'and from a half it is rounded up: 1 + 50 × 3',
    `{ viewer { ${repositories(`${issues(1)} a: ${issues(1)} b: ${issues(1)}`, 50)} } }`,
    {},
    2,
    200,
  ],
  ['page sizes come from variables', `query ($n: Int!) { viewer { ${repositories(issues(10), '$n')} } }`, { n: 30 }, 1, 330],
  ['and from their defaults', `query ($n: Int = 20) { viewer { ${repositories(issues(10), '$n')} } }`, {}, 1, 220],
  ['null is no page size', `query ($n: Int) { viewer { repositories(first: $n) { totalCount } } }`, { n: null }, 1, 0],
  [
    'fragments count where they are spread',
    `{ viewer { ...A } me: viewer { ...A } } fragment A on User { ${repositories('...B')} } fragment B on Repository { ${issues(100)} }`,
    {},
    2,
    20_200,
  ],
  ['a field that is selected twice is fetched once', `{ viewer { ${repositories('id')} ${repositories('name')} } }`, {}, 1, 100],
  [
    'a fragment on another type is another list',
    `query ($u: ID!) { node(id: $u) { ... on User { ${repositories('id')} } ... on Organization { ${repositories('id')} } } }`,
    { u: 'U_kgDOAAAD6Q' },
    1,
    200,
  ],
  [
    'what is skipped or not included counts nothing',
    `query ($no: Boolean!) { viewer { repositories(first: 100) @include(if: $no) { totalCount } pullRequests(first: 10) @skip(if: true) { totalCount } } }`,
    { no: false },
    1,
    0,
  ],
  [
    'a count alone counts nothing',
    `{ viewer { ${repositories('issues { totalCount } pullRequests { totalCount }')} } }`,
    {},
    1,
    100,
  ],
  [
    'a batch of twenty aliases costs what its lists cost',
    `query ($id: ID!) { ${Array.from({ length: 20 }, (_, at) => `r${at}: node(id: $id) { ... on Repository { ${issues(50, 'timelineItems(last: 1) { totalCount }')} } }`).join(' ')} }`,
    { id: 'R_kgDOAAGGoQ' },
    10,
    2000,
  ],
]

describe('cost', () => {
  test.each(table)('[G-07] %s', async (_, query, variables, points, nodes) => {
    const stage = createStage()
    const answer = await stage.ask(query, variables)
    expect(answer.errors?.filter(({ type }) => type !== 'NOT_FOUND')).toEqual(answer.errors && [])
    expect(answer.points).toBe(points)
    expect(stage.estimates).toMatchObject([{ points, nodes }])
  })

  test('[G-07] rateLimit tells the price of its own query and what is left after it', async () => {
    const { ask, budget, now } = createStage()
    const { data } = await ask(
      `{ viewer { ${repositories(issues(100))} } rateLimit { cost limit nodeCount remaining resetAt used } }`,
    )
    expect(data.rateLimit).toEqual({
      cost: 1,
      nodeCount: 10_100,
      limit: 5000,
      remaining: budget.remaining - 1,
      used: budget.used + 1,
      resetAt: new Date(now + 1_800_000).toISOString().replace('.000', ''),
    })
  })

  test.each([
    '{ viewer { %s } rateLimit(dryRun: true) { cost } }',
    'query ($dry: Boolean = true) { viewer { %s } rateLimit(dryRun: $dry) { cost } }',
  ])('[G-07] a dry run tells the price without running: %s', async (text) => {
    const { data } = await createStage().ask(
      text.replace('%s', repositories(issues(100, 'timelineItems(last: 1) { totalCount }'), 40)),
    )
    expect(data).toEqual({ rateLimit: { cost: 40 } })
  })

  test('[G-07] chaos hears the largest page and how many commits must be diffed', async () => {
    const stage = createStage()
    const history = 'defaultBranchRef { target { ... on Commit { history(first: 20) { nodes { oid additions deletions } } } } }'
    await stage.ask(`query Heavy { viewer { ${repositories(history, 30)} pullRequests(first: 40) { nodes { additions } } } }`)
    expect(stage.estimates).toMatchObject([{ pageSizeMax: 40, heavyNodes: 600 }])
  })

  test('[G-07] a query for more than 500,000 nodes is refused', async () => {
    const { data, errors, status } = await createStage().ask(
      `{ viewer { ${repositories(issues(100, 'timelineItems(last: 100) { totalCount }'))} } }`,
    )
    expect({ data, errors, status }).toEqual({
      data: undefined,
      status: 200,
      errors: [
        {
          type: 'MAX_NODE_LIMIT_EXCEEDED',
          message: 'This query requests up to 1,010,100 possible nodes which exceeds the maximum limit of 500,000.',
        },
      ],
    })
  })

  test('[G-07] a page of more than a hundred is refused, wherever the number comes from', async () => {
    const { data, errors } = await createStage().ask(
      'query ($n: Int) {\n  me: viewer {\n    repositories(last: $n) { nodes { id } }\n  }\n}',
      { n: 101 },
    )
    expect({ data, errors }).toEqual({
      data: undefined,
      errors: [
        {
          type: 'EXCESSIVE_PAGINATION',
          path: ['me', 'repositories'],
          locations: [{ line: 3, column: 5 }],
          message: 'Requesting 101 records on the `repositories` connection exceeds the `last` limit of 100 records.',
        },
      ],
    })
  })
})
