/**
 * The user's events, newest first, until one that is known. GitHub keeps 300 of them for 30 days and tells how often it wants to be asked; who comes earlier
 * goes away again, for they are never counted and the next run reads them as well.
 */
import { defineKind, done, type Outcome } from '@sluice/engine'
import { stepOn } from '@sluice/github'
import { z } from 'zod'
import { keepEtag, moveCursor, readCursor } from '../cursor/cursor.ts'
import { storeEvents } from '../event/event.ts'
import { ask } from './ask.ts'
import { number, patient, priorities, scope, wholePage } from './list-item.ts'
import type { Services } from './workshop.ts'

const event = z.object({
  id: z.string().min(1).max(100),
  type: z.string().nullable(),
  repo: z.object({ id: number }).nullish(),
  created_at: z.iso.datetime({ offset: true }),
  payload: z.unknown().optional(),
})
const payload = z.object({
  ...scope,
  login: z.string().min(1).max(200),
  link: z.string().max(2_000).optional(),
  /** Of the first page; the cursor takes it when the walk has ended. */
  newest: z.string().optional(),
  trail: z.object({ mark: z.string(), steps: z.int(), until: z.int() }).optional(),
})
/** GitHub has three. */
const pagesMax = 10

export const events = defineKind('github.events', {
  payload,
  priority: priorities.discovery,
  retry: patient,
  lane: 'github:{owner}:core',
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run, login, link, trail } = job.payload
    const { engine, settings } = collector
    const cursor = await readCursor(engine, collection, 'events')
    if (!link && cursor?.place && Date.parse(cursor.place) > settings.now()) {
      job.report({ refund: 1 })
      return done()
    }
    const call = link
      ? { path: link }
      : { path: `/users/${encodeURIComponent(login)}/events`, query: { per_page: wholePage }, etag: cursor }
    const asked = await ask(job, collector, call, {
      schema: z.array(event),
      moved: (to) => events({ ...job.payload, link: to }, { owner: job.owner as string }),
      // The login may have changed a moment ago: the next run knows the new one.
      gone: () => done(),
    })
    if (asked.type === 'over') return asked.outcome
    const place =
      link || asked.pollIntervalMs === undefined ? undefined : new Date(settings.now() + asked.pollIntervalMs).toISOString()
    const later = place === undefined ? {} : { place }
    if (asked.type === 'not modified')
      return done({ write: (tx) => moveCursor(tx, collection, { resource: 'events', ...later }, run) })
    const rows = asked.data.map(({ id, type, repo, created_at: createdAt, payload: body }) => ({
      id,
      type: type ?? 'unknown',
      repositoryId: repo?.id ?? null,
      createdAt,
      payload: body ?? {},
    }))
    const newest = job.payload.newest ?? rows[0]?.id
    const known = cursor?.head !== null && cursor?.head !== undefined && rows.some(({ id }) => id === cursor.head)
    const step = asked.next === undefined || known ? undefined : stepOn(trail, asked.next)
    const goesOn = step !== undefined && step !== 'loop' && step.steps < pagesMax
    return done({
      write: async (tx) => {
        await storeEvents(tx, collection, rows)
        if (!link) await keepEtag(tx, collection, { resource: 'events' }, asked.etag, run)
        await moveCursor(
          tx,
          collection,
          { resource: 'events', ...later, ...(goesOn || newest === undefined ? {} : { head: newest }) },
          run,
        )
      },
      next: goesOn && [events({ collection, run, login, link: asked.next, newest, trail: step }, { owner: job.owner as string })],
    })
  },
})
