/**
 * Users: GitHub accounts whose activity is collected. Their tokens go in and never come out.
 */
import { looksLikeToken } from '@sluice/collector'
import { z } from 'zod'
import { byId, done, listOf, paging, text } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { user } from './user-schemas.ts'

/** Refused at the door, so that a token that was put into the wrong field is neither in the audit log nor in an answer. */
const login = text(100)
  .refine((login) => !looksLikeToken(login), 'looks like a token; give the login here')
  .describe('As GitHub knows it, in any case.')
const token = text(500).describe(
  'A personal access token of this account. It is checked with GitHub, stored sealed, and never shown.',
)

export function addUserRoutes(add: AddRoute, { collector }: Ground): void {
  const tag = 'users'
  add({
    method: 'GET',
    url: '/api/users',
    action: 'users.read',
    tag,
    summary: 'List users',
    query: z.strictObject({ login: login.exactOptional().describe('Only the user of this login.'), ...paging }),
    answers: { 200: listOf(user) },
    handle: async ({ query: { login: wanted, ...page } }) => {
      if (wanted === undefined) return answer(200, await collector.users.list(page))
      const found = await collector.users.find(wanted)
      return answer(200, { items: found ? [found] : [] })
    },
  })
  add({
    method: 'POST',
    url: '/api/users',
    action: 'users.add',
    tag,
    summary: 'Register a user',
    description:
      'GitHub is asked whose token it is; it has to be that of the login. The first collection is requested together with it.',
    body: z.strictObject({
      login,
      token,
      collect: z.boolean().exactOptional().describe('Whether the first collection is requested at once; true when left out.'),
    }),
    answers: { 201: user },
    target: ({ body }) => body.login,
    handle: async ({ body }) => {
      const added = await collector.users.register(body)
      return answer(201, added, { location: `/api/users/${added.id}` })
    },
  })
  add({
    method: 'GET',
    url: '/api/users/:id',
    action: 'users.read',
    tag,
    summary: 'Show a user',
    params: byId,
    answers: { 200: user },
    refuses: [404],
    handle: async ({ params }) => {
      const found = await collector.users.find(params.id)
      if (!found) throw notFound(`user ${params.id}`)
      return answer(200, found)
    },
  })
  add({
    method: 'PUT',
    url: '/api/users/:id/token',
    action: 'users.rotate',
    tag,
    summary: 'Give a user a new token',
    description: 'What waited because the old one was refused goes on where it stopped.',
    params: byId,
    body: z.strictObject({
      token,
      move: z
        .boolean()
        .exactOptional()
        .describe('Whether its GitHub has another address now, the one that this server asks; false when left out.'),
    }),
    answers: { 200: user },
    refuses: [404, 409],
    handle: async ({ params, body: { token: given, move } }) =>
      answer(200, await collector.users.rotateToken(params.id, given, { move })),
  })
  add({
    method: 'DELETE',
    url: '/api/users/:id',
    action: 'users.remove',
    tag,
    summary: 'Remove a user with their token and all that was collected',
    params: byId,
    answers: { 200: done },
    refuses: [404],
    handle: async ({ params }) => {
      if (!(await collector.users.remove(params.id))) throw notFound(`user ${params.id}`)
      return answer(200, { done: true })
    },
  })
}
