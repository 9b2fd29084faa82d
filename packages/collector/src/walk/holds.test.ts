import { expect, test } from 'vitest'
import { Holds } from './holds.ts'

test('[C-08] whoever was told to wait waits for the latest time that was named, and no longer', () => {
  const holds = new Holds()
  holds.hold('1', new Date(2_000))
  holds.hold('1', new Date(1_000))
  holds.hold('github:1:core', new Date(3_000))
  expect(holds.find(['1'], 500)).toEqual(new Date(2_000))
  expect(holds.find(['1', 'github:1:core'], 500)).toEqual(new Date(3_000))
  expect(holds.find(['1', 'github:1:graphql'], 2_000)).toBeUndefined()
  expect(holds.find(['2'], 500)).toBeUndefined()
})
