/** Problems: every error has an answer, and the page that explains them is whole. */
import { readFileSync } from 'node:fs'
import { SluiceError } from '@sluice/engine'
import { expect, test } from 'vitest'
import { explainError, headersOf, refuse, toProblem } from './problem.ts'
import { engineProblems, httpProblems } from './problem-table.ts'

test('[O-03] every code of the API is documented with its status, and every documented code exists', () => {
  const page = readFileSync(new URL('../../../../docs/http-api.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [code, Number(status)])
  expect(new Map(documented as [string, number][])).toEqual(
    new Map(Object.entries(httpProblems).map(([code, { status }]) => [code, status])),
  )
})

test('[O-03] whatever is thrown, nothing of it is in the answer', () => {
  const thrown = [
    new Error('secret'),
    'secret',
    undefined,
    null,
    { message: 'secret' },
    Object.assign(new Error('secret'), { code: 'XX000' }),
  ]
  for (const one of thrown) {
    const explained = explainError(one)
    expect(explained).toMatchObject({ code: 'UNEXPECTED', unexpected: true })
    expect(JSON.stringify(toProblem(explained, 'id'))).not.toContain('secret')
  }
})

test('[O-03] what the database says when it is away stays inside', () => {
  const away = explainError(Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' }))
  expect(away).toMatchObject({ code: 'DATABASE_UNREACHABLE', row: { status: 503 } })
  expect(away.detail).not.toContain('10.0.0.7')
  expect(headersOf(away)['retry-after']).toBe('2')
  const busy = explainError(Object.assign(new Error('deadlock detected'), { code: '40P01' }))
  expect(busy).toMatchObject({ code: 'BUSY', row: { status: 503 } })
})

test('[O-11] a right that the role lacks is named, with what its owner has to run; a wrong password stays inside', () => {
  const denied = { code: '42501', detail: 'Key (token)=(secret)', where: 'secret' }
  const lacks = explainError(Object.assign(new Error('permission denied for table job'), denied))
  expect(lacks).toMatchObject({ code: 'DATABASE_REFUSED', row: { status: 503, title: 'The role of this server lacks a right' } })
  expect(lacks.detail).toMatch(
    /permission denied for table job\. Let the owner of the schema run: select sluice\.admit\('ROLE'\)/,
  )
  expect(JSON.stringify(toProblem(lacks, 'id'))).not.toContain('secret')
  expect(headersOf(lacks)).not.toHaveProperty('retry-after')
  const login = explainError(Object.assign(new Error('password authentication failed for user "ann"'), { code: '28P01' }))
  expect(login).toMatchObject({ code: 'DATABASE_REFUSED', row: { title: 'The database is away' } })
  expect(login.detail).not.toContain('ann')
})

test('[E-15] a run that is under way is named', () => {
  const explained = explainError(new SluiceError('RUN_ACTIVE', { kind: 'walk', owner: ' for ann', run: 7 }))
  expect(toProblem(explained, 'id')).toMatchObject({
    status: 409,
    code: 'RUN_ACTIVE',
    run: 7,
    detail: expect.stringContaining('run 7'),
  })
})

test('[O-03] every problem says what to do, or the error does', () => {
  for (const [code, row] of Object.entries(httpProblems)) {
    const { detail } = refuse(code as keyof typeof httpProblems).refused
    if ('detail' in row) expect(detail.length, code).toBeGreaterThan(15)
  }
  expect(Object.values(engineProblems).filter(({ status }) => status < 400 || status > 504)).toEqual([])
})
