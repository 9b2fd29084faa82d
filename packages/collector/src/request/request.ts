/**
 * The subscriber of the one way in: starts the run in the transaction that ends its own job. If one is under way already there is nothing to do, and while
 * the user's token is refused nothing can be done.
 */
import { defineKind, done, type Outcome, type QueryClient, SluiceError } from '@sluice/engine'
import { z } from 'zod'
import { findCollection } from '../collection/collection.ts'
import { shadowRunOf } from '../shadow/shadow-run.ts'
import { findUser } from '../user/user.ts'
import type { Services } from '../walk/workshop.ts'
import { collect } from './collect.ts'
import { collectionRequested, triggers } from './request-event.ts'
import { ownerOf } from './run-names.ts'

export const request = defineKind('collector.request', {
  payload: z.object({
    userId: z.int().min(1),
    start: z.iso.datetime({ offset: true }).optional(),
    trigger: z.enum(triggers),
    collection: z.int().min(1).optional(),
  }),
  on: [collectionRequested],
  async run({ payload: { userId, start, trigger, collection }, log }, { collector: { engine } }: Services): Promise<Outcome> {
    const user = await findUser(engine, userId)
    if (user?.tokenState !== 'ok') {
      log('not started', { reason: user ? 'its token is refused' : 'there is no such user' })
      return done()
    }
    const named = collection === undefined ? undefined : await findCollection(engine, collection)
    if (collection !== undefined && !named) {
      log('not started', { reason: 'there is no such collection' })
      return done()
    }
    const kind = named?.purpose === 'shadow' ? shadowRunOf(named.strategy) : collect
    const wanted = kind(
      { userId, ...(start === undefined ? {} : { start }), ...(collection === undefined ? {} : { collection }) },
      { owner: ownerOf(userId) },
    )
    const begin = async (client: QueryClient): Promise<void> => {
      try {
        await engine.runs.start(wanted, { client, trigger })
      } catch (error) {
        if (!(error instanceof SluiceError && error.code === 'RUN_ACTIVE')) throw error
        log('not started', { reason: error.message })
      }
    }
    return done({ write: begin })
  },
})
