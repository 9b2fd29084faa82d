/** The user's profile by its id, which no rename changes; free as long as nothing changed. The login it tells is what the list of events needs. */
import { defineKind, done, type Outcome } from '@sluice/engine'
import { z } from 'zod'
import { findCollection } from '../collection/collection.ts'
import { keepEtag, readCursor } from '../cursor/cursor.ts'
import { findUser, storeProfile } from '../user/user.ts'
import { ask } from './ask.ts'
import { events } from './events.ts'
import { number, patient, priorities, scope } from './list-item.ts'
import type { Services } from './workshop.ts'

const answer = z.object({
  id: number,
  node_id: z.string(),
  login: z.string(),
  name: z.string().nullish(),
  followers: z.int().nullish(),
  created_at: z.iso.datetime({ offset: true }).nullish(),
})

export const profile = defineKind('github.profile', {
  payload: z.object(scope),
  priority: priorities.discovery,
  retry: patient,
  lane: 'github:{owner}:core',
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run } = job.payload
    const userId = Number(job.owner)
    const etag = await readCursor(collector.engine, collection, 'profile')
    const asked = await ask(job, collector, { path: `/user/${userId}`, etag }, { schema: answer })
    if (asked.type === 'over') return asked.outcome
    const next = (login: string) => [events({ collection, run, login }, { owner: job.owner as string })]
    if (asked.type === 'not modified') {
      const user = await findUser(collector.engine, userId)
      return done({ next: user && next(user.login) })
    }
    const { id, node_id: nodeId, login, name = null, followers = null, created_at: createdAt = null } = asked.data
    // What everybody sees of the user is no part of a shadow.
    const live = (await findCollection(collector.engine, collection))?.purpose === 'live'
    return done({
      write: async (tx) => {
        if (live) await storeProfile(tx, { id, nodeId, login, name, followers, createdAt })
        await keepEtag(tx, collection, { resource: 'profile' }, asked.etag, run)
      },
      next: next(login),
    })
  },
})
