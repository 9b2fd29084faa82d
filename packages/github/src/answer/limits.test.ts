import { describe, expect, test } from 'vitest'
import { heardGraphql, heardRest, limitHeaders } from '../scene/scripted-server.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const reset = now / 1000 + 1800
const date = new Date(now).toUTCString()
const options = { now: () => now }
const headers = (remaining: number, more: Record<string, string> = {}) => ({
  date,
  ...limitHeaders({ remaining, reset }),
  ...more,
})
const after = (seconds: number) => new Date(now + seconds * 1000)
const primary = {
  message:
    'API rate limit exceeded for user ID 9599. If you reach out to GitHub Support for help, please include the request ID 1:2:3.',
  documentation_url: 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api',
}
const secondary = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' }

describe('primary limit', () => {
  test.each([403, 429])('[G-02] %i with remaining 0 and its words is the primary limit, until the reset', async (status) => {
    const answer = await heardRest({ status, headers: headers(0), body: primary }, {}, options)
    expect(answer).toMatchObject({ type: 'primary limit', resetAt: new Date(reset * 1000), status, cost: 1 })
  })

  test('[G-02] the last permitted call is a 200 with remaining 0, and its data counts', async () => {
    const answer = await heardRest({ headers: headers(0), body: [1] }, {}, options)
    expect(answer).toMatchObject({ type: 'ok', data: [1], budget: { remaining: 0, limit: 5000, resource: 'core' } })
  })

  test('[G-02] the last permitted call can be a 403 of another kind, and is not taken for the limit', async () => {
    const body = { message: 'Resource not accessible by personal access token' }
    const answer = await heardRest({ status: 403, headers: headers(0), body }, {}, options)
    expect(answer).toMatchObject({ type: 'forbidden', kind: 'permission', budget: { remaining: 0 } })
  })

  test('[G-02] remaining 0 decides when a 403 says nothing that we know', async () => {
    expect(await heardRest({ status: 403, headers: headers(0), body: { message: 'No.' } }, {}, options)).toMatchObject({
      type: 'primary limit',
    })
    expect(await heardRest({ status: 403, headers: headers(1), body: { message: 'No.' } }, {}, options)).toMatchObject({
      type: 'forbidden',
      kind: 'other',
    })
  })

  test('[G-02] without a reset that can be believed the wait is a minute, never nothing and never a year', async () => {
    const bare = await heardRest({ status: 403, headers: { date }, body: primary }, {}, options)
    expect(bare).toMatchObject({ type: 'primary limit', resetAt: after(60), budget: undefined })
    for (const wrong of [0, 1, now / 1000 - 86_400, now / 1000 + 400 * 86_400]) {
      const answer = await heardRest(
        { status: 403, headers: { date, ...limitHeaders({ remaining: 0, reset: wrong }) }, body: primary },
        {},
        options,
      )
      expect(answer, String(wrong)).toMatchObject({ type: 'primary limit', resetAt: after(60), budget: undefined })
    }
  })

  test('[G-02] a reset that flaps by a second around now still gives a wait that is over in the future', async () => {
    for (const jitter of [-1, 0, 1]) {
      const act = { status: 403, headers: { date, ...limitHeaders({ remaining: 0, reset: now / 1000 + jitter }) }, body: primary }
      const answer = await heardRest(act, {}, options)
      expect(answer).toMatchObject({ type: 'primary limit', resetAt: after(1), budget: { resetAt: after(jitter) } })
    }
  })

  test('[G-03] a 401 carries the bucket of 60 for callers without a token, and is not believed', async () => {
    const act = {
      status: 401,
      headers: { date, ...limitHeaders({ limit: 60, remaining: 24, reset }) },
      body: { message: 'Bad credentials' },
    }
    expect(await heardRest(act, {}, options)).toMatchObject({
      type: 'unauthorized',
      message: 'Bad credentials',
      budget: undefined,
    })
    const own = { ...act, headers: { date, ...limitHeaders({ limit: 5000, remaining: 24, reset }) } }
    expect(await heardRest(own, {}, options)).toMatchObject({ type: 'unauthorized', budget: undefined })
  })

  test('[G-03] an answer from the bucket of 60 is not believed on a 200 either', async () => {
    const answer = await heardRest(
      { headers: { date, ...limitHeaders({ limit: 60, remaining: 59, reset }) }, body: [] },
      {},
      options,
    )
    expect(answer).toMatchObject({ type: 'ok', budget: undefined })
  })
})

describe('secondary limit', () => {
  test('[G-02] Retry-After says when to ask again', async () => {
    const answer = await heardRest({ status: 403, headers: headers(4000, { 'retry-after': '37' }), body: secondary }, {}, options)
    expect(answer).toMatchObject({ type: 'secondary limit', retryAt: after(37) })
  })

  test.each([403, 429])('[G-02] %i without Retry-After waits a minute', async (status) => {
    const answer = await heardRest({ status, headers: headers(4000), body: secondary }, {}, options)
    expect(answer).toMatchObject({ type: 'secondary limit', retryAt: after(60) })
  })

  test('[G-02] without Retry-After but with nothing left it waits for the reset', async () => {
    const answer = await heardRest({ status: 403, headers: headers(0), body: secondary }, {}, options)
    expect(answer).toMatchObject({ type: 'secondary limit', retryAt: new Date(reset * 1000) })
  })

  test('[G-02] the old words about abuse mean the same', async () => {
    const body = { message: 'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.' }
    expect(await heardRest({ status: 403, headers: headers(4000), body }, {}, options)).toMatchObject({ type: 'secondary limit' })
  })

  test.each(['#about-secondary-rate-limits', '#secondary-rate-limits', '#abuse-rate-limits'])(
    '[G-02] a documentation address that ends in %s is enough, whatever the message',
    async (end) => {
      const body = { message: 'Slow down', documentation_url: `https://docs.github.com/rest/overview/rate-limits${end}` }
      expect(await heardRest({ status: 403, headers: headers(9), body }, {}, options)).toMatchObject({ type: 'secondary limit' })
    },
  )

  test('[G-02] Retry-After on a 403 with unknown words is a secondary limit, and a 429 always is a limit', async () => {
    const unknown = { status: 403, headers: headers(9, { 'retry-after': '5' }), body: 'busy' }
    expect(await heardRest(unknown, {}, options)).toMatchObject({ type: 'secondary limit', retryAt: after(5) })
    expect(await heardRest({ status: 429, body: '' }, {}, options)).toMatchObject({ type: 'secondary limit', retryAt: after(60) })
  })

  test('[G-02] Retry-After may be a date of the server clock, may be nonsense, and is never longer than a day', async () => {
    const ask = (value: string, served = date) =>
      heardRest({ status: 403, headers: { 'retry-after': value, date: served }, body: secondary }, {}, options)
    const ahead = new Date(now + 3_600_000).toUTCString()
    expect(await ask(new Date(now + 90_000).toUTCString())).toMatchObject({ retryAt: after(90) })
    expect(await ask(new Date(now + 3_690_000).toUTCString(), ahead)).toMatchObject({ retryAt: after(90) })
    expect(await ask('soon')).toMatchObject({ retryAt: after(60) })
    expect(await ask('-5')).toMatchObject({ retryAt: after(60) })
    expect(await ask('0')).toMatchObject({ retryAt: after(1) })
    expect(await ask('999999999')).toMatchObject({ retryAt: after(86_400) })
  })

  test('[G-02] GraphQL says it with 200 or 403', async () => {
    const inErrors = { headers: headers(4000, { 'retry-after': '9' }), body: { errors: [secondary] } }
    expect(await heardGraphql(inErrors, {}, options)).toMatchObject({ type: 'secondary limit', retryAt: after(9) })
    expect(await heardGraphql({ headers: headers(4000), body: secondary }, {}, options)).toMatchObject({ retryAt: after(60) })
    expect(await heardGraphql({ status: 403, headers: headers(4000), body: secondary }, {}, options)).toMatchObject({
      type: 'secondary limit',
    })
  })
})
