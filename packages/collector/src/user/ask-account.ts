/**
 * Whose token is it? GitHub is asked before anything is stored, so that a token that is wrong is refused at the door and not by the first job.
 */
import type { Answer, Github, Token } from '@sluice/github'
import { z } from 'zod'
import { CollectorError } from '../errors.ts'
import { looksLikeToken } from './token-shape.ts'
import type { Profile } from './user.ts'

const accountSchema = z.object({
  id: z.int().min(1),
  node_id: z.string().min(1).max(200),
  login: z.string().min(1).max(100),
  name: z.string().nullish(),
  followers: z.int().min(0).nullish(),
  created_at: z.iso.datetime({ offset: true }).nullish(),
})

const loginShape = /^[a-z\d](?:[a-z\d_-]{0,99})$/i
const reasonCharsMax = 200

export function checkLogin(login: unknown): string {
  if (typeof login !== 'string' || !loginShape.test(login) || looksLikeToken(login)) throw new CollectorError('LOGIN_WRONG_SHAPE')
  return login
}

/** The account that the token belongs to. */
export async function askAccount(github: Github, token: Token): Promise<Profile> {
  const answer = await github.rest<unknown>({ token, path: '/user' })
  if (answer.type === 'ok') return readAccount(answer.data, github.baseUrl)
  throw refuse(answer, github.baseUrl)
}

/** Refuses a login that belongs to somebody else; one that the account has had before is its own. */
export async function checkSameAccount(github: Github, token: Token, login: string, account: Profile): Promise<void> {
  if (login.toLowerCase() === account.login.toLowerCase()) return
  const found = await findId(github, token, `/users/${encodeURIComponent(login)}`)
  if (found === undefined) throw new CollectorError('LOGIN_UNKNOWN', { login, owner: account.login })
  if (found !== account.id) throw new CollectorError('TOKEN_OF_ANOTHER', { login, owner: account.login })
}

async function findId(github: Github, token: Token, path: string, hops = 1): Promise<number | undefined> {
  const answer = await github.rest<unknown>({ token, path })
  if (answer.type === 'ok') return readAccount(answer.data, github.baseUrl).id
  if (answer.type === 'gone') return undefined
  if (answer.type === 'moved' && hops > 0) return findId(github, token, answer.to, hops - 1)
  throw refuse(answer, github.baseUrl)
}

function readAccount(data: unknown, address: string): Profile {
  const read = accountSchema.safeParse(data)
  if (!read.success)
    throw new CollectorError('GITHUB_UNUSABLE', { address, reason: 'what it says about the account is incomplete' })
  const { id, node_id: nodeId, login, name, followers, created_at: createdAt } = read.data
  return { id, nodeId, login, name: name ?? null, followers: followers ?? null, createdAt: createdAt ?? null }
}

function refuse(answer: Exclude<Answer<unknown>, { type: 'ok' }>, address: string): CollectorError {
  switch (answer.type) {
    case 'unauthorized':
      return new CollectorError('TOKEN_REFUSED', { reason: sentence(answer.message) })
    case 'forbidden':
      return answer.kind === 'login-attempts'
        ? new CollectorError('TOKEN_REFUSED', { reason: sentence(answer.message) })
        : new CollectorError('TOKEN_WITHOUT_RIGHTS', { reason: sentence(answer.message) })
    case 'gone':
      return new CollectorError('TOKEN_WITHOUT_RIGHTS', { reason: 'GitHub shows it no account' })
    case 'primary limit':
      return new CollectorError('GITHUB_BUSY', { until: answer.resetAt.toISOString() })
    case 'secondary limit':
      return new CollectorError('GITHUB_BUSY', { until: answer.retryAt.toISOString() })
    case 'server trouble':
    case 'malformed':
    case 'invalid':
    case 'too heavy':
      return new CollectorError('GITHUB_UNUSABLE', { address, reason: sentence(answer.message) })
    case 'blocked':
    case 'computing':
    case 'disabled':
    case 'empty':
    case 'moved':
    case 'not modified':
      return new CollectorError('GITHUB_UNUSABLE', {
        address,
        reason: `it answered "${answer.type}" where an account was asked for`,
      })
  }
}

function sentence(message: string): string {
  return message.slice(0, reasonCharsMax).replace(/\.\s*$/, '') || 'without a reason'
}
