/** Which role an action takes. */
import { expect, test } from 'vitest'
import { type Action, actions, judgeRole, requiredRole } from './actions.ts'
import type { Caller, Role } from './caller.ts'

const as = (role: Role): Caller => ({ kind: 'key', role, id: 'aaaaaaaaaa', name: 'x' })
const all = Object.keys(actions) as Action[]

test.for(all)('[O-09] %s is refused below its role and allowed from it on', (action) => {
  const allowed = (['read', 'operate', 'admin'] as const).filter((role) => !judgeRole(as(role), action))
  const needed = requiredRole(action)
  expect(allowed).toEqual({ read: ['read', 'operate', 'admin'], operate: ['operate', 'admin'], admin: ['admin'] }[needed])
})

test('[O-09] whoever reads changes nothing, and sees neither keys, nor the audit log, nor secrets', () => {
  const forReaders = all.filter((action) => requiredRole(action) === 'read')
  expect(forReaders.filter((action) => !/\.(?:read|watch)$/.test(action))).toEqual(['session.end'])
  expect(forReaders.filter((action) => /^(?:keys|audit|secrets)\./.test(action))).toEqual([])
})

test('[O-09] whoever operates cannot let others in', () => {
  const forAdmins = all.filter((action) => /^(?:keys|audit|secrets)\./.test(action))
  expect(forAdmins.map(requiredRole)).toEqual(forAdmins.map(() => 'admin'))
})

test('[O-09] a refusal says which role is missing', () => {
  expect(judgeRole(as('read'), 'jobs.retry')).toMatchObject({
    status: 403,
    code: 'ROLE_TOO_LOW',
    detail: expect.stringContaining('"jobs.retry" takes the role operate, and yours is read'),
  })
})
