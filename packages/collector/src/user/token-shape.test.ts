/** What can be a token of GitHub, and what is said about what cannot. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findTokenProblem } from './token-shape.ts'

const tail = 'aB3'.repeat(12)

test.for(['ghp', 'gho', 'ghu', 'ghs'].map((prefix) => `${prefix}_${tail}`).concat(`github_pat_${tail}_${tail}`, 'a1'.repeat(20)))(
  '[C-01] %s has the shape of a token',
  (token) => {
    expect(findTokenProblem(token)).toBeUndefined()
  },
)

test.for<[string, unknown, RegExp]>([
  ['nothing', '', /empty/],
  ['no text', 5, /no text/],
  ['a space inside', `ghp_${tail} `, /space/],
  ['a line break', `ghp_${tail}\n`, /line break/],
  ['a scheme in front', `Bearer:ghp_${tail}`, /scheme/],
  ['a refresh token', `ghr_${tail}`, /refresh/],
  ['a token that was cut off', 'ghp_abc', /too short/],
  ['a token with a wrong character', `ghp_${tail}!`, /character/],
  ['a password', 'correct-horse-battery-staple', /does not begin/],
  ['39 digits', 'a'.repeat(39), /does not begin/],
  ['40 digits in capitals', 'A'.repeat(40), /does not begin/],
  ['a book', `ghp_${'a'.repeat(400)}`, /more than/],
])('[C-01] %s is refused', ([, text, problem]) => {
  expect(findTokenProblem(text)).toMatch(problem)
})

test('[C-01] what is said never holds a part of what was given', () => {
  const secret = fc.stringMatching(/^[A-Z0-9]{8,40}$/)
  fc.assert(
    fc.property(fc.constantFrom('', 'ghp_', 'Bearer ', 'ghr_'), secret, (prefix, text) => {
      expect(findTokenProblem(`${prefix}${text}!`)).not.toContain(text.slice(0, 8))
    }),
  )
})
