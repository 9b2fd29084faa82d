/**
 * Makes what a person did in the last weeks, newest first. Payloads have the short form that GitHub has given since 2025.
 */
import { createHash } from 'node:crypto'
import type { SimEvent } from './model.ts'
import { createRandom } from './random.ts'

const spanSeconds = 25 * 86_400
/** Ids of generated events stay below those of events that happen later. */
const idsAPerson = 10_000

export function generateEvents(
  seed: number,
  actorId: number,
  count: number,
  repoIds: readonly number[],
  start: number,
): SimEvent[] {
  if (repoIds.length === 0) return []
  const random = createRandom(seed, 'events', actorId)
  return Array.from({ length: count }, (_, at) => {
    const id = actorId * idsAPerson + (count - at)
    const repoId = random.pick(repoIds)
    const createdAt = start - Math.floor((spanSeconds * (at + 1)) / (count + 1)) * 1000
    return { id: String(id), actorId, repoId, createdAt, ...random.pick(kinds)(repoId, id) }
  })
}

export const pushPayload = (repoId: number, pushId: number, before: string, head: string) => ({
  repository_id: repoId,
  push_id: pushId,
  ref: 'refs/heads/main',
  head,
  before,
})

const sha = (text: string) => createHash('sha1').update(text).digest('hex')
const kinds: ((repoId: number, id: number) => Pick<SimEvent, 'type' | 'payload'>)[] = [
  (repoId, id) => ({ type: 'PushEvent', payload: pushPayload(repoId, id, sha(`before ${id}`), sha(`head ${id}`)) }),
  () => ({ type: 'WatchEvent', payload: { action: 'started' } }),
  () => ({
    type: 'CreateEvent',
    payload: {
      ref: 'topic',
      ref_type: 'branch',
      full_ref: 'refs/heads/topic',
      master_branch: 'main',
      description: null,
      pusher_type: 'user',
    },
  }),
]
