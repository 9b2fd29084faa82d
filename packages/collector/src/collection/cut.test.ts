/** What is too large is cut, says so, and can be stored. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { cut, cutPayload, payloadBytesMax, titleCharsMax } from './cut.ts'

describe('[C-09] text', () => {
  test('[C-09] up to the limit stays as it is; beyond, it is cut and marked', () => {
    const full = 'x'.repeat(titleCharsMax)
    expect(cut(full)).toEqual({ value: full, truncated: false })
    expect(cut(`${full}y`)).toEqual({ value: full, truncated: true })
    expect(cut('')).toEqual({ value: '', truncated: false })
  })

  test('[C-09] is not cut in the middle of a pair', () => {
    expect(cut('ab💥', 3)).toEqual({ value: 'ab', truncated: true })
    expect(cut('ab💥', 4)).toEqual({ value: 'ab💥', truncated: false })
  })

  test('[C-09] whatever people write can be stored', async ({ client }) => {
    const text = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0', '\uD800', '\uDC00', '💥')) })
    await fc.assert(
      fc.asyncProperty(text, fc.nat(20), async (given, max) => {
        const { value, truncated } = cut(given, max)
        expect(value.length).toBeLessThanOrEqual(max)
        expect(truncated).toBe(given.length > max)
        const { rows } = await client.query('select $1::text as text', [value])
        expect(rows[0].text).toBe(value)
      }),
      { numRuns: 100 },
    )
  })
})

describe('[C-09] a payload', () => {
  test('[C-09] that fits is kept whole', () => {
    const payload = { ref: 'refs/heads/main', commits: [{ sha: 'a' }], size: 3 }
    expect(cutPayload(payload)).toEqual({ value: JSON.stringify(payload), truncated: false })
  })

  test('[C-09] that does not fit keeps its key numbers', () => {
    const payload = {
      push_id: 17,
      forced: false,
      head: 'a'.repeat(40),
      body: 'y'.repeat(20_000),
      commits: Array.from({ length: 2_000 }, (_, at) => ({ sha: String(at) })),
      pull_request: { number: 5, merged: true, title: 'z'.repeat(500), base: { id: 9 } },
    }
    const { value, truncated } = cutPayload(payload)
    expect(truncated).toBe(true)
    expect(JSON.parse(value)).toEqual({
      push_id: 17,
      forced: false,
      head: 'a'.repeat(40),
      pull_request: { number: 5, merged: true, base: { id: 9 } },
    })
  })

  test('[C-09] is below the limit and storable, whatever it is', async ({ client }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 6 }),
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 10, max: 2_000 }),
        async (json, key, max) => {
          const payload = { [key]: JSON.parse(json), [`${key}\0`]: '\0\uD800', pad: 'p'.repeat(max % 3 === 0 ? 5_000 : 0) }
          const { value } = cutPayload(payload, max)
          expect(Buffer.byteLength(value)).toBeLessThanOrEqual(max)
          const { rows } = await client.query('select $1::jsonb as payload', [value])
          expect(rows[0].payload).toBeTypeOf('object')
        },
      ),
      { numRuns: 100 },
    )
    expect(
      Buffer.byteLength(cutPayload({ wide: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, at])) }).value),
    ).toBeLessThan(payloadBytesMax)
  })
})
