/** A run that has waited a week for a token fails, so that the user is free for another one. */
import { defineKind, type Outcome, snooze, toMs } from '@sluice/engine'
import sql from 'sql-template-tag'
import { z } from 'zod'
import { activeStates, ownerOf, runNames } from '../request/run-names.ts'
import { findUser } from '../user/user.ts'
import type { Services } from '../walk/workshop.ts'
import { giveUpName, patience } from './refuse-token.ts'

/** The clocks of two machines differ by less. */
const toleranceMs = 60_000

export const giveUp = defineKind(giveUpName, {
  payload: z.object({ userId: z.int().min(1) }),
  async run({ payload: { userId }, log }, { collector: { engine } }: Services): Promise<Outcome | void> {
    const user = await findUser(engine, userId)
    if (!user?.tokenRefusedAt) return
    const { rows } = await engine.query<{ waited: number }>(sql`
      select extract(epoch from sluice.now() - token_refused_at)::float8 * 1000 as waited from collector.users where id = ${userId}`)
    const leftMs = toMs(patience) - (rows[0]?.waited ?? 0)
    // Another token came and was refused as well: that refusal has a week of its own, and a job of its own.
    if (leftMs > toleranceMs) return
    if (leftMs > 0) return snooze(leftMs)
    for (const kind of Object.values(runNames)) {
      const { items } = await engine.inspect.runs({ kind, owner: ownerOf(userId), state: activeStates }, { limit: 10 })
      for (const { id } of items)
        log('given up', { run: id, answer: await engine.runs.fail(id, 'its token was refused, and no other one came in 7 days') })
    }
  },
})
