/** When a collection will end: by its pace while the budget lasts, by the windows when it does not. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectedEnd, type LaneWork, type Outlook, paceOf } from './expected-end.ts'

const now = new Date('2026-01-01T12:00:00Z')
const at = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000)
const lane = (given: Partial<LaneWork>): LaneWork => ({
  units: 0,
  remaining: 5_000,
  limit: 5_000,
  floor: 0,
  resetAt: at(30),
  holdUntil: null,
  paused: false,
  ...given,
})
const end = (lanes: Partial<LaneWork>[], rest: Partial<Outlook> = {}): Date | null =>
  expectedEnd({ now, lanes: lanes.map(lane), openJobs: 0, perSecond: 1, ...rest })

describe('[C-14] the expected end', () => {
  test.for<[string, Date | null, Date | null]>([
    ['nothing is left', end([{}]), null],
    ['the budget lasts: by the pace', end([{ units: 600 }]), at(10)],
    ['the slower lane counts', end([{ units: 60 }, { units: 600 }]), at(10)],
    ['jobs of no lane count, too', end([{ units: 60 }], { openJobs: 120 }), at(2)],
    ['no pace yet', end([{ units: 60 }], { perSecond: null }), null],
    ['a hold comes first', end([{ units: 60, holdUntil: at(5) }]), at(6)],
    ['a hold that is over does not', end([{ units: 60, holdUntil: at(-5) }]), at(1)],
    ['a pause: nobody knows', end([{ units: 60, paused: true }]), null],
    ['a pause of a lane with nothing to do is none', end([{ units: 60 }, { paused: true }]), at(1)],
    ['spent: the rest after the reset', end([{ units: 60, remaining: 0 }]), at(31)],
    ['partly spent', end([{ units: 100, remaining: 40 }]), at(31)],
    ['the floor is for others', end([{ units: 60, remaining: 100, floor: 100 }]), at(31)],
    ['two windows more', end([{ units: 5_060, remaining: 0 }]), at(91)],
    [
      'exactly full windows',
      end([{ units: 1_000, remaining: 0, limit: 500 }], { perSecond: 500 }),
      new Date(at(90).getTime() + 1_000),
    ],
    ['a window that is over is a new one', end([{ units: 60, remaining: 0, resetAt: at(-1) }]), at(1)],
    [
      'a new one that is too small as well',
      end([{ units: 60, limit: 40, resetAt: null, remaining: null }]),
      new Date(at(60).getTime() + 20_000),
    ],
    ['a hold beyond the reset', end([{ units: 60, remaining: 0, holdUntil: at(40) }]), at(41)],
    ['a limit that nobody knows', end([{ units: 60, remaining: null, limit: null, resetAt: null }]), at(1)],
    ['spent, and how much comes nobody knows', end([{ units: 60, remaining: 0, limit: null }]), null],
    ['a budget without room', end([{ units: 60, remaining: 0, limit: 100, floor: 100 }]), null],
    ['a pace slower than the windows', end([{ units: 600, remaining: 0, limit: 5_000 }], { perSecond: 0.1 }), at(100)],
    ['windows without a pace', end([{ units: 60, remaining: 0 }], { perSecond: null }), at(30)],
    [
      'shorter windows',
      end([{ units: 1_000, remaining: 0, limit: 500 }], { windowMs: 60_000, perSecond: 500 }),
      new Date(at(31).getTime() + 1_000),
    ],
  ])('[C-14] %s', ([, found, expected]) => {
    expect(found).toEqual(expected)
  })

  test('[C-14] is never in the past, and more to do never ends sooner', () => {
    const offset = fc.option(fc.integer({ min: -100, max: 100 }).map(at))
    const some = fc.record({
      units: fc.nat(20_000),
      remaining: fc.option(fc.nat(5_000)),
      limit: fc.option(fc.nat(5_000)),
      floor: fc.nat(200),
      resetAt: offset,
      holdUntil: offset,
      paused: fc.boolean(),
    })
    fc.assert(
      fc.property(
        some,
        fc.integer({ min: 1, max: 5_000 }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (work, more, perSecond) => {
          const [less, later] = [end([work], { perSecond }), end([{ ...work, units: work.units + more }], { perSecond })]
          if (less) expect(less.getTime()).toBeGreaterThanOrEqual(now.getTime())
          if (less && later) expect(later.getTime()).toBeGreaterThanOrEqual(less.getTime())
        },
      ),
    )
  })
})

describe('[C-14] the pace', () => {
  const ends = (...seconds: number[]): Date[] => seconds.map((second) => new Date(now.getTime() + second * 1_000))
  test.for<[string, Date[], number | null]>([
    ['nothing ended', [], null],
    ['one ended', ends(5), null],
    ['all at the same moment', ends(5, 5, 5), null],
    ['two a second, in whatever order', ends(1, 0, 0.5, 1.5), 2],
    ['a wait for a window is no part of it', ends(0, 1, 2, 3_600, 3_601), 1],
    ['nothing but waits', ends(0, 3_600), null],
  ])('[C-14] %s', ([, given, pace]) => {
    expect(paceOf(given)).toBe(pace)
  })
})
