import fc from 'fast-check'
import { expect, test } from 'vitest'
import { halve } from './halve.ts'
import { stepOn, type Trail } from './trail.ts'

/** Pages until the walk notices, at most `max`. */
function walk(linkAt: (step: number) => string, max: number): number {
  let trail: Trail | undefined
  for (let step = 0; step < max; step += 1) {
    const next = stepOn(trail, linkAt(step))
    if (next === 'loop') return step
    trail = JSON.parse(JSON.stringify(next)) as Trail
  }
  return max
}

test('[G-05] a circle of links is noticed after at most three rounds and a bit, wherever it begins', () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.integer({ min: 1, max: 200 }), (lead, length) => {
      const link = (step: number) => `page=${step < lead ? step : lead + ((step - lead) % length)}`
      const noticed = walk(link, 10_000)
      expect(noticed).toBeGreaterThanOrEqual(lead + length)
      expect(noticed).toBeLessThanOrEqual(3 * (lead + length) + 2)
    }),
  )
})

test('[G-05] a walk without a circle goes on, and its trail does not grow', () => {
  expect(walk((step) => `page=${step}`, 5_000)).toBe(5_000)
  let trail: Trail | undefined
  for (let step = 0; step < 1_000; step += 1) trail = stepOn(trail, `page=${step}`) as Trail
  expect(trail).toMatchObject({ steps: 1_000 })
  expect(JSON.stringify(trail).length).toBeLessThan(80)
})

test('[G-06] a page size is halved down to one item, or to the floor that is asked for', () => {
  const ladder = (from: number, min?: number) => {
    const steps: number[] = []
    for (let size = halve(from, min); size !== undefined; size = halve(size, min)) steps.push(size)
    return steps
  }
  expect(ladder(100)).toEqual([50, 25, 10, 5, 2, 1])
  expect(ladder(100, 10)).toEqual([50, 25, 10])
  expect(ladder(20, 7)).toEqual([10, 7])
  expect(ladder(1)).toEqual([])
  expect(ladder(0)).toEqual([])
  expect(ladder(Number.NaN)).toEqual([])
})
