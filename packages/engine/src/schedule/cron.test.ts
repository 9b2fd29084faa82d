/**
 * When expressions fire: the rules for changes of the clock, as docs/schedules.md has them, a second library as a witness, and what is
 * refused.
 */
import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCron } from './cron.ts'

const hourMs = 3_600_000

/** All fires in (from, to], as ISO text. */
function fires(cron: string, zone: string, from: string, to: string): string[] {
  const expression = parseCron(cron, zone)
  const found: string[] = []
  for (let at = expression.next(Date.parse(from)); at <= Date.parse(to); at = expression.next(at))
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'))
  return found
}

// Times that the clock skips fire at the first moment after the gap, times that come twice fire the first time.
const fixedTimes: [rule: string, cron: string, zone: string, from: string, to: string, expected: string[]][] = [
  [
    'Berlin skips 02:30 in spring',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-27T12:00Z',
    '2026-03-30T12:00Z',
    ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
  ],
  [
    'Berlin has 02:30 twice in autumn',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-23T12:00Z',
    '2026-10-26T12:00Z',
    ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  ],
  [
    'New York skips 02:30 in spring',
    '30 2 * * *',
    'America/New_York',
    '2026-03-07T12:00Z',
    '2026-03-09T12:00Z',
    ['2026-03-08T07:00Z', '2026-03-09T06:30Z'],
  ],
  [
    'New York has 01:30 twice in autumn',
    '30 1 * * *',
    'America/New_York',
    '2026-10-31T12:00Z',
    '2026-11-02T12:00Z',
    ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
  ],
  [
    'Sydney skips 02:30 in October',
    '30 2 * * *',
    'Australia/Sydney',
    '2026-10-02T18:00Z',
    '2026-10-05T12:00Z',
    ['2026-10-03T16:00Z', '2026-10-04T15:30Z'],
  ],
  [
    'Sydney has 02:30 twice in April',
    '30 2 * * *',
    'Australia/Sydney',
    '2026-04-03T18:00Z',
    '2026-04-06T12:00Z',
    ['2026-04-04T15:30Z', '2026-04-05T16:30Z'],
  ],
  [
    'Lord Howe, which moves by half an hour, skips 02:15 in October',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T18:00Z',
    '2026-10-05T12:00Z',
    ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
  ],
  [
    'Lord Howe has 01:45 twice in April',
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-03T18:00Z',
    '2026-04-06T12:00Z',
    ['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
  ],
  [
    'Chatham, 45 minutes off, skips 03:15 in September',
    '15 3 * * *',
    'Pacific/Chatham',
    '2026-09-25T18:00Z',
    '2026-09-28T12:00Z',
    ['2026-09-26T14:00Z', '2026-09-27T13:30Z'],
  ],
  [
    'Chatham has 03:15 twice in April',
    '15 3 * * *',
    'Pacific/Chatham',
    '2026-04-03T18:00Z',
    '2026-04-06T12:00Z',
    ['2026-04-04T13:30Z', '2026-04-05T14:30Z'],
  ],
  [
    'Kathmandu never moves',
    '5 0 * * *',
    'Asia/Kathmandu',
    '2026-03-28T00:00Z',
    '2026-03-30T00:00Z',
    ['2026-03-28T18:20Z', '2026-03-29T18:20Z'],
  ],
  [
    'Seoul never moves',
    '5 0 * * *',
    'Asia/Seoul',
    '2026-03-28T00:00Z',
    '2026-03-30T00:00Z',
    ['2026-03-28T15:05Z', '2026-03-29T15:05Z'],
  ],
  [
    'a list of times is as exact as each of them',
    '30 2,14 * * *',
    'Europe/Berlin',
    '2026-10-24T12:30Z',
    '2026-10-25T23:00Z',
    ['2026-10-25T00:30Z', '2026-10-25T13:30Z'],
  ],
  [
    'two times in one gap share its end and fire once',
    '15,45 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00Z',
    '2026-03-30T12:00Z',
    ['2026-03-29T01:00Z', '2026-03-30T00:15Z', '2026-03-30T00:45Z'],
  ],
]

test.each(fixedTimes)('[E-18] a fixed time fires exactly once a day: %s', (_, cron, zone, from, to, expected) => {
  expect(fires(cron, zone, from, to)).toEqual(expected)
})

test('[E-18] an interval follows the clock on the wall, so it stays an interval through both changes', () => {
  for (const [from, to] of [
    ['2026-03-28T22:00:00Z', '2026-03-29T04:00:00Z'],
    ['2026-10-24T22:00:00Z', '2026-10-25T04:00:00Z'],
  ] as const)
    expect(fires('*/30 * * * *', 'Europe/Berlin', from, to)).toHaveLength(12)
  expect(fires('0 * * * *', 'Australia/Sydney', '2026-04-04T12:00:00Z', '2026-04-04T20:00:00Z')).toHaveLength(8)
})

test('[E-18] a range of hours leaves out the hour that is skipped and fires twice in the one that comes twice', () => {
  const hours = (from: string, to: string) => fires('0 1-3 * * *', 'Europe/Berlin', from, to)
  expect(hours('2026-03-28T12:00Z', '2026-03-29T12:00Z')).toEqual(['2026-03-29T00:00Z', '2026-03-29T01:00Z'])
  expect(hours('2026-10-24T12:00Z', '2026-10-25T12:00Z')).toEqual([
    '2026-10-24T23:00Z',
    '2026-10-25T00:00Z',
    '2026-10-25T01:00Z',
    '2026-10-25T02:00Z',
  ])
})

test('[E-18] the next fire is strictly later, to the millisecond', () => {
  const { next } = parseCron('5 0 * * *', 'UTC')
  const at = Date.UTC(2026, 0, 1, 0, 5)
  expect([at - 1, at, at + 1].map((ms) => next(ms) - at)).toEqual([0, 24 * hourMs, 24 * hourMs])
})

test('[E-18] days that February does not have do not hide the first of March', () => {
  for (const [from, to] of [
    ['2026-02-20T00:00Z', '2026-03-05T00:00Z'],
    ['2028-02-20T00:00Z', '2028-03-05T00:00Z'],
  ] as const) {
    const march = `${from.slice(0, 4)}-03-0`
    expect(fires('0 0 1,31 * *', 'UTC', from, to)).toEqual([`${march}1T00:00Z`])
    expect(fires('0 0 1,2,31 2,3 *', 'Asia/Seoul', from, to)).toEqual([march + '1', march + '2'].map((day) => seoulMidnight(day)))
    expect(fires('0 0 */5 * *', 'UTC', from, to)).toContain(`${march}1T00:00Z`)
  }
})

const seoulMidnight = (day: string): string => new Date(`${day}T00:00+09:00`).toISOString().replace(':00.000Z', 'Z')

test('[E-18] the last fires are those that the next ones pass, the present one included', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), cronOf, fc.integer({ min: 0, max: 9_999 }), (zone, cron, hours) => {
      const expression = parseCron(cron, zone)
      const first = expression.next(Date.UTC(2026, 0, 1) + hours * hourMs)
      const forward = [first]
      while (forward.length < 4) forward.push(expression.next(forward.at(-1) as number))
      expect(expression.last(forward[3] as number, 4)).toEqual(forward)
      expect(expression.last((forward[3] as number) - 1, 2)).toEqual(forward.slice(1, 3))
    }),
    { numRuns: 300 },
  )
})

const zones = [
  'UTC',
  'Asia/Seoul',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
]
const field = (min: number, max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: fc.integer({ min, max }).map(String) },
    fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) }).map((step) => `*/${step}`),
    fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc
      .uniqueArray(fc.integer({ min, max }), { minLength: 2, maxLength: 4 })
      .map((list) => list.toSorted((a, b) => a - b).join(',')),
  )
const cronOf = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '))
  .filter((cron) => !neverFires(cron))

function neverFires(cron: string): boolean {
  try {
    return parseCron(cron, 'UTC').next(0) < 0
  } catch {
    return true
  }
}

/** Made once: to make one takes a thousand times as long as to ask it. */
const clocks = new Map(
  zones.map((zone) => [zone, new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })] as const),
)

/** The documented differences lie where the clock changes: an offset that is not the same a day before, at, and a day after. */
function clockChangesNear(zone: string, atMs: number): boolean {
  const offset = (ms: number) => {
    const parts = clocks.get(zone)?.formatToParts(new Date(ms)) ?? []
    return parts.find(({ type }) => type === 'timeZoneName')?.value
  }
  return new Set([-26, 0, 26].map((hours) => offset(atMs + hours * hourMs))).size > 1
}

/** The other library gets lost in a gap of half an hour and gives up. */
const witnessed = zones.filter((zone) => zone !== 'Australia/Lord_Howe')

test('[E-18] away from changes of the clock a second library says the same', { timeout: 120_000 }, () => {
  let compared = 0
  fc.assert(
    fc.property(fc.constantFrom(...witnessed), cronOf, fc.integer({ min: 0, max: 5 * 366 * 24 * 60 }), (zone, cron, minutes) => {
      let atMs = Date.UTC(2024, 0, 1) + minutes * 60_000
      const ours = parseCron(cron, zone)
      const theirs = CronExpressionParser.parse(cron, { tz: zone, currentDate: new Date(atMs) })
      for (let round = 0; round < 3; round++) {
        const [mine, other] = [ours.next(atMs), theirs.next().toDate().getTime()]
        if ([atMs, mine, other].some((ms) => clockChangesNear(zone, ms))) return
        expect(new Date(mine).toISOString(), `${cron} in ${zone} after ${new Date(atMs).toISOString()}`).toBe(
          new Date(other).toISOString(),
        )
        compared++
        atMs = mine
      }
    }),
    { numRuns: 1_000 },
  )
  expect(compared).toBeGreaterThan(1_500)
})

test.each([
  ['61 * * * *', /minute takes 0 to 59/],
  ['* 24 * * *', /hour takes 0 to 23/],
  ['* * 32 * *', /day takes 1 to 31/],
  ['* * * 13 *', /month takes 1 to 12/],
  ['* * * * 8', /weekday takes 0 to 7/],
  ['* * *', /3 fields instead of five/],
  ['@never', /there are @yearly, .*@hourly/],
  ['@reboot', /no such name/],
  ['', /0 fields/],
  ['* * * * * * *', /7 fields/],
  ['2026-01-01T00:00:00', /1 fields/],
  ['@', /no such name/],
  ['? * * * *', /"\?" has no meaning/],
  ['5-1 * * * *', /larger/],
  ['*/0 * * * *', /stepping/],
  ['0 0 30 2 *', /never fires/],
  ['0 0 31 4,6 *', /never fires/],
])('[E-18] the expression "%s" is refused, and the message says why', (cron, why) => {
  expect(() => parseCron(cron, 'UTC').next(0)).toThrow(
    expect.objectContaining({ code: 'INVALID_CRON', message: expect.stringMatching(why) }),
  )
})

test.each(['Mars/Olympus', '', '+09:00', 'Seoul'])('[E-18] the zone "%s" is refused', (zone) => {
  expect(() => parseCron('* * * * *', zone)).toThrow(expect.objectContaining({ code: 'INVALID_ZONE' }))
})

test('[E-18] nicknames and seconds are understood', () => {
  expect(fires('@daily', 'Asia/Seoul', '2026-01-01T00:00Z', '2026-01-02T00:00Z')).toEqual(['2026-01-01T15:00Z'])
  expect(parseCron('*/10 * * * * *', 'UTC').next(0)).toBe(10_000)
})
