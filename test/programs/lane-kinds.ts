/**
 * Kinds for scenes with lanes. `call` asks a server and tells its lane what the answer said; `work` takes a moment, ends in one of several
 * ways, and leaves an effect when it ends well.
 */
import { type AnyKind, defineKind, delays, done, type Outcome, retry, snooze } from '@sluice/engine'
import { z } from 'zod'

export const call = defineKind('lane.call', {
  payload: z.object({ url: z.string() }),
  retry: delays(Array.from({ length: 50 }, () => '20ms' as const)),
  async run({ payload, report, signal }): Promise<Outcome> {
    const answer = await fetch(payload.url, { headers: { 'x-who': 'us' }, signal })
    await answer.arrayBuffer()
    report({
      remaining: Number(answer.headers.get('x-remaining')),
      resetAt: new Date(Number(answer.headers.get('x-reset'))),
      refund: answer.status === 304 ? 1 : 0,
    })
    return answer.status === 429 ? retry({ after: '50ms' }) : done()
  },
})

export const work = defineKind('lane.work', {
  payload: z.object({ ms: z.number() }),
  retry: delays(Array.from({ length: 50 }, () => '5ms' as const)),
  async run({ id, attempt, payload }): Promise<Outcome> {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * payload.ms))
    const how = (id * 7 + attempt) % 10
    if (attempt === 1 && how === 0) return retry({ after: '3ms' })
    if (attempt === 1 && how === 1 && Math.random() < 0.5) return snooze('3ms')
    if (attempt === 1 && how === 2) throw new Error('this once')
    if (how < 6) return done({ write: (tx) => tx.query('insert into effect (job, kind) values ($1, $2)', [id, 'lane.work']) })
    return done()
  },
})

export const laneKinds: readonly AnyKind[] = [call, work]
