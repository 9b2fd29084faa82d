import { expect, test } from 'vitest'
import { countCost } from './cost.ts'

const aliases = (count: number) => Array.from({ length: count }, (_, n) => `r${n}: node(id: "R_${n}") { ...r }`).join('\n')
const threeEach =
  'fragment r on Repository { issues(first: 100) { totalCount } pullRequests(first: 100) { totalCount } labels(first: 100) { totalCount } }'
const discovery = `query ($first: Int = 50, $after: String) {
  viewer { repositories(first: $first, after: $after, orderBy: { field: PUSHED_AT, direction: DESC }, ownerAffiliations: [OWNER]) {
    nodes { id issues(first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { updatedAt } } pullRequests(first: 1) { nodes { updatedAt } } }
    pageInfo { hasNextPage endCursor } } }
  rateLimit { cost } }`

const examples: [what: string, query: string, variables: Record<string, unknown>, points: number, nodes: number][] = [
  [
    'the example of the documentation',
    '{ viewer { repositories(first: 100) { edges { node { issues(first: 50) { edges { node { labels(first: 60) { edges { node { id } } } } } } } } } } }',
    {},
    51,
    305_100,
  ],
  ['a hundred repositories', '{ viewer { repositories(first: 100) { nodes { id } } } }', {}, 1, 100],
  [
    'a hundred histories of a hundred',
    '{ viewer { repositories(first: 100) { nodes { object(oid: "a") { ... on Commit { history(first: 100) { nodes { oid } } } } } } } }',
    {},
    1,
    10_100,
  ],
  ['20 repositories by alias with 3 connections', `{ ${aliases(20)} } ${threeEach}`, {}, 1, 6_000],
  ['50 repositories by alias with 3 connections', `{ ${aliases(50)} } ${threeEach}`, {}, 2, 15_000],
  ['discovery, by the default of its variable', discovery, {}, 1, 150],
  ['discovery with a page of 100', discovery, { first: 100 }, 2, 300],
  ['nothing to page through', '{ viewer { login } }', {}, 1, 0],
  ['the number of a connection alone', '{ viewer { followers { totalCount } } }', {}, 1, 0],
  ['an empty page', '{ a(first: 0) { b(first: 100) { c } } }', {}, 1, 0],
  ['the last ones', '{ a(last: 10) { b(last: 5) { c } } }', {}, 1, 60],
  ['149 and 150 fetches', '{ a(first: 149) { b(first: 1) { c } } }', {}, 2, 298],
  ['148 and 149 fetches', '{ a(first: 148) { b(first: 1) { c } } }', {}, 1, 296],
  ['a variable without a value', 'query ($n: Int!) { a(first: $n) { b } }', {}, 1, 100],
  ['a variable that is no number', 'query ($n: Int!) { a(first: $n) { b } }', { n: 'many' }, 1, 100],
  ['a variable that is null', 'query ($n: Int) { a(first: $n, last: 3) { b } }', { n: null }, 1, 3],
  ['the dearest of two operations', 'query A { a(first: 1) { b } } query B { a(first: 7) { b } }', {}, 1, 7],
  [
    'a field that is left out',
    'query ($w: Boolean!) { a(first: 9) @skip(if: true) { x } b(first: 7) @include(if: $w) { x } ... @include(if: false) { c(first: 5) { x } } }',
    { w: false },
    1,
    0,
  ],
  [
    'a field that is let in',
    'query ($w: Boolean = true) { a(first: 9) @skip(if: false) { x } b(first: 7) @include(if: $w) { x } }',
    {},
    1,
    16,
  ],
  [
    'first in strings, comments and objects',
    '{ a(x: "first: 9 { b(first: 9)", y: """ " first: \\""" 9 """, z: { first: 9, l: [1, -2.5e3, E, $v] }) { b } # c(first: 100)\n }',
    {},
    1,
    0,
  ],
  [
    'a fragment in a fragment',
    '{ a(first: 2) { ...f } } fragment f on A { b(first: 3) { ...g } ...g } fragment g on B { c(first: 5) { x } }',
    {},
    1,
    2 + 6 + 30 + 10,
  ],
  ['no comma, no space', '\uFEFFquery A($a:[Int!]!=[1,2]@d,$b:Int=4)@live{x:a(first:$b){y:b(last:2){c}}}', {}, 1, 12],
  ['an inherited name is no variable', 'query ($toString: Int = 4) { a(first: $toString) { b } }', {}, 1, 4],
]

test.each(examples)('[G-06] the cost of %s', (_what, query, variables, points, nodes) => {
  expect(countCost(query, variables)).toEqual({ points, nodes })
})

test('[G-06] fragments that double twenty times are counted once each', () => {
  const chain = Array.from({ length: 20 }, (_, n) => `fragment f${n} on A { a: x { ...f${n + 1} } b: x { ...f${n + 1} } }`)
  const query = `{ ...f0 } ${chain.join(' ')} fragment f20 on A { y(first: 1) { z } }`
  expect(countCost(query)).toEqual({ points: Math.round(2 ** 20 / 100), nodes: 2 ** 20 })
}, 10_000)

test.each([
  ['', 'the operation is missing'],
  ['{', 'a name is missing'],
  ['{ }', 'a name is missing'],
  ['{ a', 'a name is missing'],
  ['{ a( }', 'a name is missing'],
  ['{ a() }', 'a name is missing'],
  ['{ a(b: ) }', 'a value is missing'],
  ['{ a(b: [1 }', 'a value is missing'],
  ['{ a(b: {c 1}) }', '":" is missing'],
  ['{ a(b: "c) }', 'a character that belongs to no token'],
  ['{ a ? }', 'a character that belongs to no token'],
  ['{ a(b: 01x) }', 'a character that belongs to no token'],
  ['type A { b: Int }', 'neither an operation nor a fragment'],
  ['{ ...f }', 'fragment f is missing'],
  ['{ ...f } fragment f on A { ...g } fragment g on A { ...f }', 'fragment f contains itself'],
  ['{ ...f } fragment f of A { b }', '"on" is missing'],
  ['{ a '.repeat(200), 'the nesting is too deep'],
  [`{ a(b: ${'['.repeat(200)}) }`, 'the nesting is too deep'],
])('[G-06] the query %j is refused with what is wrong', (query, problem) => {
  expect(() => countCost(query)).toThrow(
    expect.objectContaining({ code: 'GITHUB_BAD_QUERY', message: expect.stringContaining(problem) }),
  )
})
