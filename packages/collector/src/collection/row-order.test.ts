/** Rows in one order for everybody, each key once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inKeyOrder } from './row-order.ts'

test('[C-06] a row that a shifting list shows twice is stored once, the last one unless another is newer', () => {
  const rows = [
    { id: 2, at: 1 },
    { id: 1, at: 5 },
    { id: 2, at: 3 },
    { id: 1, at: 4 },
  ]
  expect(inKeyOrder(rows, ({ id }) => id)).toEqual([rows[3], rows[2]])
  expect(
    inKeyOrder(
      rows,
      ({ id }) => id,
      (row, than) => row.at >= than.at,
    ),
  ).toEqual([rows[1], rows[2]])
})

test('[C-06] two pages with the same rows lock them in the same order', () => {
  const key = fc.tuple(fc.nat(50), fc.string({ maxLength: 3 }))
  const pages = fc
    .uniqueArray(key, { selector: ([a, b]) => `${a} ${b}` })
    .chain((keys) => fc.tuple(fc.constant(keys), fc.shuffledSubarray(keys, { minLength: keys.length })))
  fc.assert(
    fc.property(pages, ([one, other]) => {
      expect(inKeyOrder(other, (row) => row)).toEqual(inKeyOrder(one, (row) => row))
    }),
  )
})
