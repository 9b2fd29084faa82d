import { expect, test } from 'vitest'
import { time } from './choices.ts'

test.each(['2027-01-31T14:00Z', '2027-01-31 14:00', '2027-01-31', '2028-02-29T00:00:00.5+09:00'])('%s is a time', (text) => {
  expect(time(text)).toEqual(new Date(text))
})

test.each(['1', '12', '2026', '12:00', '2027-02-30', '2027-02-30T10:00Z', '2027-13-01', '2027-01-31T25:00Z', 'tomorrow', ''])(
  '[O-06] "%s" is none, and nobody guesses which was meant',
  (text) => {
    expect(() => time(text)).toThrow('Write a time such as 2027-01-31T14:00Z.')
  },
)
