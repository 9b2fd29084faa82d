import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classify } from './classify.ts'
import type { Asked } from './reading.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const types = [
  'ok',
  'not modified',
  'moved',
  'gone',
  'empty',
  'blocked',
  'disabled',
  'computing',
  'unauthorized',
  'forbidden',
  'primary limit',
  'secondary limit',
  'invalid',
  'too heavy',
  'server trouble',
  'malformed',
]

const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom('rest' as const, 'graphql' as const),
  conditional: fc.boolean(),
  url: fc.constant('https://api.github.com/a?page=1'),
  origin: fc.constant('https://api.github.com'),
  points: fc.integer({ min: 1, max: 100 }),
})
const words = fc.constantFrom(
  'Not Found',
  'API rate limit exceeded for user ID 1.',
  'You have exceeded a secondary rate limit.',
  'Repository access blocked',
  'Issues are disabled for this repo',
  'Something went wrong while executing your query.',
  'Git Repository is empty.',
)
const anything = fc.oneof(words, fc.anything(), fc.constantFrom(null, [], {}, 0, ''))
const body = fc.oneof(
  fc.string(),
  fc.json(),
  fc
    .record(
      {
        message: anything,
        documentation_url: anything,
        url: anything,
        block: fc.oneof(anything, fc.record({ reason: anything })),
        data: fc.oneof(anything, fc.record({ rateLimit: fc.oneof(anything, fc.record({ cost: anything })) })),
        errors: fc.oneof(
          anything,
          fc.array(
            fc.oneof(
              anything,
              fc.record(
                {
                  type: fc.oneof(anything, fc.constantFrom('RATE_LIMIT', 'NOT_FOUND', 'FORBIDDEN')),
                  message: anything,
                  path: anything,
                  extensions: anything,
                },
                { requiredKeys: [] },
              ),
            ),
          ),
        ),
      },
      { requiredKeys: [] },
    )
    .map((value) => {
      try {
        return JSON.stringify(value)
      } catch {
        return '{}'
      }
    }),
)
const headerNames = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-resource',
  'retry-after',
  'date',
  'link',
  'location',
  'etag',
  'last-modified',
  'x-github-sso',
  'x-poll-interval',
]
const headerValue = fc.oneof(
  fc.string().map((text) => text.replaceAll(/[^\x20-\xff]|\x7f/g, '').trim()),
  fc.integer().map(String),
  fc.constantFrom(
    '0',
    '60',
    '5000',
    'Sun, 01 Mar 2026 12:00:00 GMT',
    '<https://api.github.com/a?page=2>; rel="next"',
    '<//b>; rel=next',
    'required',
    'partial-results',
  ),
)
const headers = fc.dictionary(fc.constantFrom(...headerNames), headerValue).map((found) => new Headers(found))
const status = fc.oneof(
  fc.integer({ min: 100, max: 999 }),
  fc.constantFrom(200, 202, 204, 301, 304, 400, 401, 403, 404, 409, 410, 422, 429, 451, 500, 502, 503, 504),
)
const flaw = fc.constantFrom(undefined, undefined, undefined, 'cut off' as const, 'too large' as const, 'timed out' as const)
const evidence = fc.record({ status, headers, text: body, flaw })

test('[G-02] every answer whatsoever has a type, and every promise about its parts holds', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(asked, evidence, (asked, evidence) => {
      const answer = classify(asked, evidence, now)
      seen.add(answer.type)
      expect(types).toContain(answer.type)
      expect(answer.status).toBe(evidence.status)
      expect(Number.isInteger(answer.cost) && answer.cost >= 0).toBe(true)
      expect(answer.servedAt.getTime()).not.toBeNaN()
      if (evidence.status === 304) expect(answer.cost).toBe(0)
      if (evidence.status === 401) expect(answer).toMatchObject({ type: 'unauthorized', budget: undefined })
      if ('message' in answer) expect(answer.message.length).toBeLessThanOrEqual(300)
      const waits =
        answer.type === 'primary limit' ? answer.resetAt : answer.type === 'secondary limit' ? answer.retryAt : undefined
      if (waits) {
        expect(waits.getTime()).toBeGreaterThan(now)
        expect(waits.getTime()).toBeLessThanOrEqual(now + 86_400_000)
      }
      if (answer.type === 'ok') {
        expect(evidence.flaw).toBeUndefined()
        expect(evidence.status).toBeGreaterThanOrEqual(200)
        expect(evidence.status).toBeLessThan(300)
        if (answer.next !== undefined) expect(new URL(answer.next).origin).toBe(asked.origin)
      }
      // What makes the collector forget something must have been said by GitHub, whole.
      if (answer.type === 'gone' || answer.type === 'disabled') expect(evidence.flaw).toBeUndefined()
    }),
    { numRuns: 1_000 },
  )
  // Most kinds come up by chance; the tables of statuses have them all.
  expect(seen.size).toBeGreaterThan(10)
})

test('[G-02] the same answer is always read the same way', () => {
  fc.assert(
    fc.property(asked, evidence, (asked, evidence) => {
      expect(classify(asked, evidence, now)).toEqual(classify(asked, evidence, now))
    }),
  )
})
