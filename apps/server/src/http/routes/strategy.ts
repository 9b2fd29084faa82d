/**
 * Strategies: how users are read, for one and for all. What is under way ends as it began; a switch that does worse is taken back by itself.
 */
import { z } from 'zod'
import { byId, id, text } from '../fields.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { strategy } from './shadow-schemas.ts'

const madeSwitch = z
  .object({
    id,
    userId: id.nullable().describe('Null: for all that have none of their own.'),
    previous: strategy.nullable().describe('What was chosen before; null: the one for all.'),
    chosen: strategy.nullable(),
    from: strategy,
    to: strategy,
    madeBy: z.enum(['person', 'watch']),
    madeAt: z.date(),
    state: z
      .enum(['watching', 'kept', 'rolled back', 'replaced'])
      .describe('watching: the first runs after it are compared with the last ones before it.'),
    reason: z.string().nullable().describe('Why it was made, or why it was rolled back.'),
    settledAt: z.date().nullable(),
  })
  .meta({ id: 'Switch' })

const inForce = z
  .object({
    strategy: strategy.describe('What the next run reads by.'),
    chosen: strategy.nullable().describe('Null: the one for all.'),
    lastSwitch: madeSwitch.nullable(),
  })
  .meta({ id: 'StrategyInForce' })

const reason = text(500).exactOptional().describe('For those who wonder later.')

export function addStrategyRoutes(add: AddRoute, { collector }: Ground): void {
  const tag = 'users'
  add({
    method: 'GET',
    url: '/api/strategy',
    action: 'strategy.read',
    tag,
    summary: 'The strategy for all, and the last switches of it',
    answers: { 200: inForce.extend({ switches: z.array(madeSwitch) }) },
    handle: async () => {
      const [current, { items }] = await Promise.all([collector.strategies.current(), collector.strategies.history()])
      return answer(200, { ...current, switches: items })
    },
  })
  add({
    method: 'PUT',
    url: '/api/strategy',
    action: 'strategy.set',
    tag,
    summary: 'Switch all users that have no strategy of their own',
    description: 'Runs that are under way end as they began. More errors or longer runs than before roll it back.',
    body: z.strictObject({ strategy, reason }),
    answers: { 200: inForce },
    handle: async ({ body }) => answer(200, await collector.strategies.switchAll(body.strategy, body.reason)),
  })
  add({
    method: 'PUT',
    url: '/api/users/:id/strategy',
    action: 'strategy.set',
    tag,
    summary: 'Switch one user',
    params: byId,
    body: z.strictObject({ strategy: strategy.nullable().describe('Null: the one for all again.'), reason }),
    answers: { 200: inForce },
    refuses: [404],
    handle: async ({ params, body }) => answer(200, await collector.strategies.switchUser(params.id, body.strategy, body.reason)),
  })
}
