/**
 * Who may: keys, sign-in and the audit log.
 */
import { z } from 'zod'
import { isRefusal } from '../../access/refusal.ts'
import { byName, done, listOf, name, paging, splitPage, text, time } from '../fields.ts'
import { toHttp } from '../guard.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

const role = z.enum(['read', 'operate', 'admin'])

const key = z
  .object({
    id: z.string(),
    name: z.string(),
    role,
    state: z.enum(['active', 'expired', 'revoked']),
    createdAt: z.date(),
    expiresAt: z.date().nullable(),
    lastUsedAt: z.date().nullable().describe('To the minute.'),
    revokedAt: z.date().nullable(),
  })
  .meta({ id: 'ApiKey' })

const caller = z
  .object({
    kind: z.enum(['key', 'session', 'local', 'cli']),
    role,
    id: z.string().describe('Of the key, also for a session.'),
    name: z.string(),
  })
  .meta({ id: 'Caller' })

const entry = z
  .object({
    id: z.int(),
    at: z.date(),
    callerKind: z.enum(['key', 'session', 'local', 'cli', 'none']),
    callerId: z.string().nullable(),
    callerName: z.string().nullable(),
    address: z.string().nullable(),
    action: z.string(),
    target: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
    outcome: z.enum(['done', 'refused', 'failed']),
  })
  .meta({ id: 'AuditEntry' })

export function addAccessRoutes(add: AddRoute, ground: Ground): void {
  addKeyRoutes(add, ground)
  addSessionRoutes(add, ground)
  add({
    method: 'GET',
    url: '/api/audit',
    action: 'audit.read',
    tag: 'access',
    summary: 'Who did what, and who was turned away; newest first',
    query: z.strictObject({
      action: name.exactOptional(),
      caller: name.exactOptional().describe('The id of a key, or `local`.'),
      ...paging,
    }),
    answers: { 200: listOf(entry) },
    handle: async ({ query }) => answer(200, await ground.access.audit.list(query)),
  })
}

function addKeyRoutes(add: AddRoute, { access }: Ground): void {
  add({
    method: 'GET',
    url: '/api/keys',
    action: 'keys.read',
    tag: 'access',
    summary: 'List keys, newest first, revoked and expired ones included',
    query: z.strictObject(paging),
    answers: { 200: listOf(key) },
    handle: async ({ query }) => answer(200, await access.keys.list(splitPage(query).page)),
  })
  add({
    method: 'POST',
    url: '/api/keys',
    action: 'keys.create',
    tag: 'access',
    summary: 'Make a key',
    description:
      'Its text is in this answer and nowhere else. It is not repeated for an Idempotency-Key: a key whose answer got lost is revoked and made anew.',
    body: z.strictObject({ name: text(200), role, expiresAt: time.exactOptional() }),
    answers: { 201: key.extend({ text: z.string().describe('Shown once.') }).meta({ id: 'MadeKey' }) },
    replay: false,
    target: ({ body }) => body.name,
    handle: async ({ body }) => {
      const made = await access.keys.create(body)
      return answer(201, { ...made, text: made.text.reveal() }, { location: `/api/keys/${made.id}` })
    },
  })
  add({
    method: 'DELETE',
    url: '/api/keys/:name',
    action: 'keys.revoke',
    tag: 'access',
    summary: 'Revoke a key and end its sessions, everywhere at once',
    params: byName,
    answers: { 200: done },
    refuses: [404],
    handle: async ({ params }) => {
      if (!(await access.keys.revoke(params.name))) throw notFound(`key ${params.name} that is still good`)
      return answer(200, { done: true })
    },
  })
}

function addSessionRoutes(add: AddRoute, { access, guard }: Ground): void {
  add({
    method: 'GET',
    url: '/api/session',
    action: 'session.read',
    tag: 'access',
    summary: 'Who you are and what you may do',
    answers: { 200: caller },
    handle: async ({ caller: you }) => answer(200, you),
  })
  add({
    method: 'POST',
    url: '/api/session',
    action: 'anyone',
    tag: 'access',
    summary: 'Sign in: show a key once and get a cookie for it',
    body: z.strictObject({ key: z.string().min(1).max(200) }),
    answers: { 200: caller },
    refuses: [401, 403, 429],
    replay: false,
    handle: async ({ body, request }) => {
      guard.judgeStranger(request)
      const signedIn = await access.signIn(body.key, guard.askingOf(request))
      if (isRefusal(signedIn)) throw toHttp(signedIn)
      return answer(200, signedIn.caller, { 'set-cookie': signedIn.cookie })
    },
  })
  add({
    method: 'DELETE',
    url: '/api/session',
    action: 'session.end',
    tag: 'access',
    summary: 'Sign out',
    answers: { 200: done },
    handle: async ({ request }) => {
      const { cookie } = await access.signOut(guard.askingOf(request))
      return answer(200, { done: true }, { 'set-cookie': cookie })
    },
  })
}
