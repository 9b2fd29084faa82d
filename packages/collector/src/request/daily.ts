/**
 * Once a day everybody is asked for. One job pages through the users and gives each a time of its own, by its id, so that a thousand of them are spread
 * over hours and each is asked for at about the same time every day.
 */
import { createHash } from 'node:crypto'
import { defineKind, done, type Outcome } from '@sluice/engine'
import { z } from 'zod'
import { findElsewhere } from '../user/same-github.ts'
import { listUsers } from '../user/user.ts'
import type { Services } from '../walk/workshop.ts'
import { collectionRequested } from './request-event.ts'
import { ownerOf } from './run-names.ts'

const dayMs = 86_400_000
const pageSize = 500
const time = z.iso.datetime({ offset: true })

export const daily = defineKind('collector.daily', {
  payload: z.object({ after: z.int().min(0).default(0), from: time.optional() }),
  async run({ payload: { after, from }, createdAt }, { collector: { engine, settings, github } }: Services): Promise<Outcome> {
    const base = from ?? createdAt.toISOString()
    const users = await listUsers(engine, after, pageSize)
    const start = new Date(Date.parse(base) - dayMs).toISOString()
    const requests = users
      .filter((user) => user.tokenState === 'ok' && !findElsewhere(user, github))
      .map(({ id }) =>
        dailyRequest({ userId: id, start }, { runAt: new Date(Date.parse(base) + placeInDay(id, settings.spreadMs)) }),
      )
    const last = users.length < pageSize ? undefined : users.at(-1)
    return done({ next: [...requests, ...(last ? [daily({ after: last.id, from: base })] : [])] })
  },
})

export const dailyRequest = defineKind('collector.daily-request', {
  payload: z.object({ userId: z.int().min(1), start: time }),
  run: ({ payload: { userId, start } }): Outcome =>
    done({ publish: [collectionRequested({ userId, start, trigger: 'scheduled' }, { owner: ownerOf(userId) })] }),
})

/** The same for a user on every day, and even over all users. */
export function placeInDay(userId: number, spreadMs: number): number {
  const hash = createHash('sha256').update(String(userId)).digest().readUInt32BE()
  return Math.floor((hash / 2 ** 32) * spreadMs)
}
