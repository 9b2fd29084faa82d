/** Which walks share a call. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commitBatching, inBatches, issueBatching, lighten, pullBatching } from './batches.ts'

const halve = (size: number) => (size > 1 ? Math.floor(size / 2) : undefined)
const lists = fc.array(fc.record({ first: fc.integer({ min: 1, max: 100 }) }), { maxLength: 60 })

test.each([commitBatching, issueBatching, pullBatching])(
  '[C-03] every list is in one batch, and no batch costs a second point: %o',
  (batching) => {
    fc.assert(
      fc.property(lists, (given) => {
        const batches = inBatches(given, batching)
        expect(new Set(batches.flat())).toEqual(new Set(given))
        expect(batches.flat()).toHaveLength(given.length)
        for (const batch of batches) {
          const rows = batch.reduce((sum, { first }) => sum + first, 0)
          expect(Math.round((batch.length + rows * batching.perRow) / 100)).toBeLessThanOrEqual(1)
          expect(batch.length).toBeLessThanOrEqual(batching.lists)
          if (batch.length > 1) expect(rows).toBeLessThanOrEqual(batching.rows)
        }
      }),
    )
  },
)

test('[C-03] twenty short lists are one call', () => {
  expect(
    inBatches(
      Array.from({ length: 20 }, () => ({ first: 5 })),
      issueBatching,
    ),
  ).toHaveLength(1)
})

test('[C-07] what was too heavy is asked by halves: first fewer lists, then smaller pages, down to one', () => {
  const given = [{ first: 100 }, { first: 50 }, { first: 10 }]
  expect(lighten(given, halve)).toEqual([[{ first: 100 }, { first: 50 }], [{ first: 10 }]])
  expect(lighten([{ first: 100 }], halve)).toEqual([[{ first: 50 }]])
  expect(lighten([{ first: 1 }], halve)).toBeUndefined()
})
