/** Errors: every code has a message that says what to do. */
import { expect, test } from 'vitest'
import { CollectorError, type CollectorErrorCode, collectorErrors } from './errors.ts'

test('an error carries its code, its details in the message, and its cause', () => {
  const cause = new Error('below')
  const error = new CollectorError('COLLECTION_ACTIVE', { user: 5, run: 7 }, cause)
  expect(error).toMatchObject({ name: 'CollectorError', code: 'COLLECTION_ACTIVE', details: { user: 5, run: 7 }, cause })
  expect(error.message).toBe('A collection of user 5 is under way: run 7. Wait for its end or cancel it.')
  expect(new CollectorError('LOGIN_WRONG_SHAPE')).not.toHaveProperty('cause')
})

test('a detail that is missing is a question mark, and one that looks like a pattern is taken to the letter', () => {
  expect(new CollectorError('USER_UNKNOWN').message).toContain('user ?')
  expect(new CollectorError('USER_UNKNOWN', { user: '$& {user}' }).message).toContain('user $& {user}')
})

test.for(Object.keys(collectorErrors) as CollectorErrorCode[])('%s says something in a full sentence', (code) => {
  expect(new CollectorError(code).message).toMatch(/^[A-Z].*[.]$/)
})

test.for(Object.keys(collectorErrors) as CollectorErrorCode[])('[C-01] %s has no place for a token', (code) => {
  expect(collectorErrors[code]).not.toMatch(/\{token\w*\}/)
})
