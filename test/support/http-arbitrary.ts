/**
 * Requests by chance, from the API's own description: mostly what it asks for, now and then something else in its place.
 */
import fc from 'fast-check'
import type { Description, Operation, Schema } from './http-description.ts'

/** What people try: SQL, HTML, ends of lines, what cannot be stored, what is too long. */
export const hostile: readonly string[] = [
  "'; drop table sluice.job; --",
  "' or 1=1 --",
  '$1',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'a\r\nSet-Cookie: evil=1\r\n\r\n<p>split</p>',
  'a\nb\tc',
  '\0',
  '\ud800',
  '{"$ref":"#"}',
  '../../../../etc',
  '%00%0d%0a',
  '__proto__',
  'x'.repeat(1_500),
  '💧'.repeat(100),
  '',
  ' ',
]

export interface Chance {
  readonly url: string
  readonly body: unknown
  readonly headers: Record<string, string>
}

export function requestFor({ resolve }: Description, operation: Operation): fc.Arbitrary<Chance> {
  const value = (schema: Schema, depth = 0): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 9, arbitrary: fitting(resolve(schema), depth) }, { weight: 1, arbitrary: anything })

  const fitting = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
    if (schema['const'] !== undefined) return fc.constant(schema['const'])
    if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]))
    const alternatives = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined
    if (alternatives) return fc.oneof(...alternatives.map((one) => value(one, depth)))
    switch (schema.type ?? 'anything') {
      case 'integer':
        return fc.integer({ min: bound(schema['minimum'], -1_000), max: bound(schema['maximum'], 100_000) })
      case 'number':
        return fc.double({ noNaN: true, min: bound(schema['minimum'], -1e6), max: bound(schema['maximum'], 1e9) })
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'array':
        return fc.array(value(schema['items'] ?? {}, depth + 1), { maxLength: 3 })
      case 'object':
        return depth > 4 ? fc.constant({}) : record(schema, depth)
      case 'string':
        return words(schema)
      default:
        return fc.jsonValue({ maxDepth: 2 })
    }
  }

  const record = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
    const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
    const required = (schema['required'] ?? []) as string[]
    return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, value(field, depth + 1)])), {
      requiredKeys: fields.map(([name]) => name).filter((name) => required.includes(name)),
    })
  }

  const places = operation.parameters.filter((one) => one.in === 'path')
  const queries = operation.parameters.filter((one) => one.in === 'query')
  return fc
    .record({
      path: fc.tuple(...places.map(({ schema }) => value(schema))),
      query: fc.record(Object.fromEntries(queries.map(({ name, schema }) => [name, value(schema)])), { requiredKeys: [] }),
      body: operation.method === 'GET' ? fc.constant(undefined) : operation.body ? value(operation.body) : fc.constant({}),
      key: fc.option(fc.constantFrom('k1', 'k2', 'k3', 'not a key'), { nil: undefined }),
    })
    .map(({ path, query, body, key }) => {
      const address = places.reduce(
        (url, { name }, index) => url.replace(`{${name}}`, encodeURIComponent(asText(path[index]) || 'x')),
        operation.path,
      )
      const search = Object.entries(query).flatMap(([name, one]) =>
        [one].flat().map((single) => `${name}=${encodeURIComponent(asText(single))}`),
      )
      return {
        url: search.length > 0 ? `${address}?${search.join('&')}` : address,
        body,
        headers: key === undefined || operation.method !== 'POST' ? {} : { 'idempotency-key': key },
      }
    })
}

const anything: fc.Arbitrary<unknown> = fc.oneof(fc.constantFrom(...hostile), fc.jsonValue({ maxDepth: 1 }), fc.maxSafeInteger())

function words(schema: Schema): fc.Arbitrary<string> {
  const known = fc.constantFrom(
    'idle',
    'walk',
    'happened',
    'light',
    'ann',
    'nightly',
    '1h',
    '2s',
    '{}',
    '{"a":1}',
    '2030-01-01T00:00:00Z',
    '5 0 * * *',
  )
  const charsMax = Math.min(bound(schema['maxLength'], 50), 50)
  return fc.oneof(known, fc.string({ minLength: 1, maxLength: charsMax, unit: 'grapheme' }), fc.constantFrom(...hostile))
}

const bound = (limit: unknown, instead: number): number =>
  typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : instead

/** Half a pair cannot stand in an address. */
const asText = (one: unknown): string => (typeof one === 'string' ? one : (JSON.stringify(one) ?? '')).toWellFormed()
