/**
 * GitHub refused a token: on the first such answer everything of the user pauses, because GitHub locks out whoever keeps trying, and somebody is told. What
 * is under way waits where it is; a new token resumes it.
 *
 * The state, the event, the pause and the job that gives up after a week are one transaction. An answer to a token that has been replaced meanwhile
 * says nothing about the new one.
 */
import { type Duration, defineEvent, type Engine } from '@sluice/engine'
import { fingerprint, type Token } from '@sluice/github'
import { z } from 'zod'
import { ownerOf, secretOf } from '../request/run-names.ts'
import { distrustToken } from '../user/user.ts'

export const tokenRefused = defineEvent('collector.token-refused', {
  payload: z.object({ userId: z.int().min(1), reason: z.string() }),
})

export const giveUpName = 'collector.give-up'
/** How long a run waits for another token. */
export const patience: Duration = '7d'

export async function refuseToken(engine: Engine, userId: number, token: Token, reason: string): Promise<boolean> {
  const current = await engine.secrets.open(secretOf(userId))
  if (fingerprint(current) !== fingerprint(token)) return false
  return engine.transaction(async (tx) => {
    if (!(await distrustToken(tx, userId, reason))) return false
    const owner = ownerOf(userId)
    await engine.pause({ scope: 'owner', name: owner }, 'GitHub refused its token', { client: tx })
    await engine.publish(tokenRefused({ userId, reason: reason.slice(0, 1_000) }, { owner }), { client: tx })
    // Without an owner: the pause must not hold the one who ends it.
    await engine.enqueue({ kind: giveUpName, payload: { userId }, options: { delay: patience } }, { client: tx })
    return true
  })
}
