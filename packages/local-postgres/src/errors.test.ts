import { expect, test } from 'vitest'
import { LocalPostgresError } from './errors.ts'

test('a message is its template filled with facts, and keeps the cause', () => {
  const cause = new Error('disk')
  const error = new LocalPostgresError('LOCAL_POSTGRES_WRONG_VERSION', { folder: '/data', found: '15', expected: '18' }, cause)
  expect(error).toMatchObject({ name: 'LocalPostgresError', code: 'LOCAL_POSTGRES_WRONG_VERSION', cause })
  expect(error.message).toMatch(/^The data in \/data was made by PostgreSQL 15, but the binaries are PostgreSQL 18\./)
})
