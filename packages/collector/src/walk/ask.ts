/**
 * One call to GitHub on behalf of a job: opens the token, makes the call, tells the lane what it cost, and turns every answer that is no data into the way the
 * job ends. What is left for a kind is a short sentence: ask, store, go on.
 *
 * | answer | the job |
 * |---|---|
 * | primary limit | sleeps until the reset, no attempt burned; its lane is closed by the report |
 * | secondary limit | holds all lanes of the user until GitHub allows more, then sleeps |
 * | unauthorized, too many login attempts, no right to the user itself | refuses the token: everything of the user pauses |
 * | gone | asks for the repository by its id; a sub-resource alone proves nothing |
 * | empty, blocked, forbidden | changes the state of that repository, and nothing else |
 * | disabled | has nothing to read |
 * | moved | follows, as the same job at another address |
 * | too heavy | becomes smaller jobs |
 * | computing, server trouble, malformed | is tried again |
 * | invalid | fails: asking again would not help |
 *
 * Of a user whose account is at another GitHub nothing is asked.
 */
import { cancel, done, fail, type JobContext, type JobRequest, type Outcome, retry, SluiceError, snooze } from '@sluice/engine'
import { type Answer, fingerprint, type Token } from '@sluice/github'
import type { z } from 'zod'
import { changeRepositoryState, type RepositoryState } from '../repository/repository.ts'
import { secretOf } from '../request/run-names.ts'
import { refuseToken } from '../token/refuse-token.ts'
import { findElsewhere } from '../user/same-github.ts'
import { findAccount } from '../user/user.ts'
import { forgetCommits } from './end-commit-walk.ts'
import { verifyRequest } from './verify-request.ts'
import type { Workshop } from './workshop.ts'

export type Call =
  | {
      readonly path: string
      readonly query?: Readonly<Record<string, string | number | undefined>>
      readonly etag?: KeptEtag | undefined
    }
  | { readonly text: string; readonly variables: Readonly<Record<string, unknown>>; readonly points: number }

/** An ETag is good for the token that it was given to. */
export interface KeptEtag {
  readonly etag: string | null
  readonly etagToken: string | null
}

export interface About<S extends z.ZodType> {
  readonly schema: S
  /** What the call is about, if it is one repository. */
  readonly repository?: { readonly collection: number; readonly id: number; readonly run: number } | undefined
  /** The same in smaller pieces, or nothing at the floor. */
  readonly less?: () => readonly JobRequest[] | undefined
  /** The same at another address. */
  readonly moved?: (to: string) => JobRequest
  /** For who asks for the thing itself, and not for a part of it. */
  readonly gone?: () => Outcome
}

interface Said {
  readonly servedAt: Date
  readonly pollIntervalMs: number | undefined
}

export type Asked<T> =
  | (Said & {
      readonly type: 'ok'
      readonly data: T
      readonly next: string | undefined
      /** To be kept for the next time. */
      readonly etag: { readonly etag: string; readonly token: string } | null
      readonly errors: Extract<Answer<T>, { type: 'ok' }>['errors']
    })
  | (Said & { readonly type: 'not modified' })
  | { readonly type: 'over'; readonly outcome: Outcome }

const waitMsMin = 1_000

export async function ask<S extends z.ZodType>(
  job: JobContext<unknown>,
  workshop: Workshop,
  call: Call,
  about: About<S>,
): Promise<Asked<z.output<S>>> {
  const userId = Number(job.owner)
  const [token, user] = await Promise.all([findToken(workshop, userId), findAccount(workshop.engine, userId)])
  if (!token || !user) return over(cancel('the user was removed'))
  const reserved = 'points' in call ? call.points : 1
  // A process beside this one may ask the right one; nothing is sent from here, least of all the token.
  const elsewhere = findElsewhere(user, workshop.github)
  if (elsewhere) {
    job.report({ refund: reserved })
    return over(retry({ error: elsewhere }))
  }
  const held = workshop.holds.find([job.owner as string, job.lane ?? '', tokenOf(token)], workshop.settings.now())
  if (held) {
    job.report({ refund: reserved })
    return over(snooze(held))
  }
  const answer = await send(workshop, token, call, job.signal)
  job.report({
    ...(answer.budget ? { remaining: answer.budget.remaining, limit: answer.budget.limit, resetAt: answer.budget.resetAt } : {}),
    refund: Math.max(0, reserved - answer.cost),
  })
  if (answer.type === 'not modified') return answer
  if (answer.type !== 'ok') return over(await conclude(job, workshop, answer, about, token))
  const read = about.schema.safeParse(answer.data)
  if (!read.success) {
    const at = read.error.issues[0]?.path.join('.') || 'the top'
    return over(retry({ error: new Error(`GitHub's answer has another form than expected at ${at}`) }))
  }
  const etag = answer.etag === undefined ? null : { etag: answer.etag, token: fingerprint(token) }
  const { next, errors, servedAt, pollIntervalMs } = answer
  return { type: 'ok', data: read.data, next, etag, errors, servedAt, pollIntervalMs }
}

async function findToken({ engine }: Workshop, userId: number): Promise<Token | undefined> {
  return engine.secrets.open(secretOf(userId)).catch((error: unknown) => {
    if (error instanceof SluiceError && error.code === 'UNKNOWN_SECRET') return undefined
    throw error
  })
}

async function send({ github }: Workshop, token: Token, call: Call, signal: AbortSignal): Promise<Answer<unknown>> {
  if ('text' in call) return github.graphql({ token, query: call.text, variables: call.variables, signal })
  const { path, query, etag } = call
  const usable = etag?.etag && etag.etagToken === fingerprint(token) ? { etag: etag.etag } : {}
  return github.rest({ token, path, ...(query ? { query } : {}), ...usable, signal })
}

const refusedMs = 2_000

function tokenOf(token: Token): string {
  return `token ${fingerprint(token)}`
}

type Refusal = Exclude<Answer<unknown>, { type: 'ok' | 'not modified' }>

async function conclude(
  job: JobContext<unknown>,
  workshop: Workshop,
  answer: Refusal,
  { repository, less, moved, gone }: Omit<About<z.ZodType>, 'schema'>,
  token: Token,
): Promise<Outcome> {
  const owner = job.owner as string
  const mark = (state: RepositoryState, reason?: string, also?: typeof forgetCommits): Outcome => {
    if (!repository) return retry({ error: new Error(reason ?? state) })
    const { collection, id, run } = repository
    return done({
      write: async (tx) => {
        await changeRepositoryState(tx, collection, id, state, reason)
        await also?.(tx, collection, id, run)
      },
    })
  }
  const refuse = async (message: string): Promise<Outcome> => {
    // The pause takes a moment to commit; whoever is about to send with this token here must not. Another token is another name.
    workshop.holds.hold(tokenOf(token), new Date(workshop.settings.now() + refusedMs))
    await refuseToken(workshop.engine, Number(owner), token, message)
    // Its lane is paused by now; with another token it goes on at once.
    return snooze('1s')
  }
  switch (answer.type) {
    case 'primary limit': {
      const until = workshop.holds.hold(job.lane ?? owner, ahead(answer.resetAt, workshop))
      job.report({ remaining: 0, resetAt: until })
      return snooze(until)
    }
    case 'secondary limit': {
      const until = workshop.holds.hold(owner, ahead(answer.retryAt, workshop))
      await workshop.engine.owners.hold(owner, until, { atLeast: true })
      return snooze(until)
    }
    case 'unauthorized':
      return refuse(answer.message)
    case 'forbidden':
      if (answer.kind === 'login-attempts' || (answer.kind === 'permission' && !repository)) return refuse(answer.message)
      return answer.kind === 'user-agent' || answer.kind === 'other'
        ? retry({ error: new Error(`GitHub refused: ${answer.message}`) })
        : mark('forbidden', answer.message)
    case 'gone':
      if (gone) return gone()
      return repository
        ? done({ next: [verifyRequest(repository, job)] })
        : fail(new Error('GitHub knows nothing at this address'))
    case 'empty':
      return mark('empty', undefined, forgetCommits)
    case 'blocked':
      return mark('blocked', answer.reason)
    case 'disabled':
      return done()
    case 'moved':
      return moved
        ? done({ next: [moved(answer.to)] })
        : retry({ error: new Error('GitHub moved it, and nobody knows where to') })
    case 'too heavy': {
      const next = less?.()
      return next ? done({ next }) : retry({ error: new Error(answer.message) })
    }
    case 'computing':
      return retry({ after: '10s', error: new Error('GitHub is still computing it') })
    case 'server trouble':
      return retry({
        error: new Error(answer.message),
        ...(answer.retryAfterMs === undefined ? {} : { after: answer.retryAfterMs }),
      })
    case 'malformed':
      return retry({ error: new Error(answer.message) })
    case 'invalid':
      return fail(new Error(answer.message))
  }
}

/** A server that says "now" while it refuses is not asked again at once. */
function ahead(until: Date, { settings }: Workshop): Date {
  return new Date(Math.max(until.getTime(), settings.now() + waitMsMin))
}

function over(outcome: Outcome): { type: 'over'; outcome: Outcome } {
  return { type: 'over', outcome }
}
