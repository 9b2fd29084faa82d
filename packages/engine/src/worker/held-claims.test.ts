/** Cancels reach the claim they are meant for, whether they come after it or before, and none that follows. */
import { expect, test } from 'vitest'
import type { Claim } from '../dispatch/claim.ts'
import { HeldClaims } from './held-claims.ts'

const claimOf = (id: number, fence: number): Claim => ({ id, fence }) as Claim
const isCanceled = (held: HeldClaims, claim: Claim): boolean => held.find(claim)?.stop.reason === 'canceled'

test('[E-22] a claim that is held is stopped by a cancel of it, and not by one of a claim before', () => {
  const [held, claim] = [new HeldClaims(), claimOf(1, 7)]
  held.hold(claim)
  held.cancel(1, 6, false)
  expect(isCanceled(held, claim)).toBe(false)
  held.cancel(1, 7, false)
  expect(isCanceled(held, claim)).toBe(true)
})

test('[E-22] a claim on its way is stopped by a cancel of it, and not by one of a claim before', () => {
  const [held, one, other] = [new HeldClaims(), claimOf(1, 7), claimOf(2, 7)]
  held.cancel(1, 6, true)
  held.cancel(2, 7, true)
  held.hold(one)
  held.hold(other)
  expect([isCanceled(held, one), isCanceled(held, other)]).toEqual([false, true])
})

test('[E-22] a cancel is forgotten when nothing is on its way', () => {
  const [held, claim] = [new HeldClaims(), claimOf(1, 7)]
  held.cancel(1, 7, false)
  held.cancel(1, 7, true)
  held.noneOnTheWay()
  held.hold(claim)
  expect(isCanceled(held, claim)).toBe(false)
})

test('[E-22] of many cancels of jobs elsewhere the last thousand are remembered', () => {
  const held = new HeldClaims()
  for (let id = 1; id <= 1_001; id++) held.cancel(id, 7, true)
  const [forgotten, remembered] = [claimOf(1, 7), claimOf(2, 7)]
  held.hold(forgotten)
  held.hold(remembered)
  expect([isCanceled(held, forgotten), isCanceled(held, remembered)]).toEqual([false, true])
})
