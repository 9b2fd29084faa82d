/**
 * Weights: three lanes with weights 1, 2 and 4 and more work than is looked at. By how much is the share of starts of any of them off?
 */
import { createEngine, defineKind } from '@sluice/engine'
import type { Ground } from '../../ground.ts'
import { pause } from '../../measure/clock.ts'
import { prove } from '../../proof.ts'

const weightOf = { 'weighed:1': 1, 'weighed:2': 2, 'weighed:4': 4 }
const slots = 10

export async function weights(ground: Ground, quick: boolean) {
  const starts = quick ? 2_800 : 7_000
  const place = await ground.preparedPlace('sluice in lanes')
  const order: string[] = []
  const enough = Promise.withResolvers<void>()
  const kind = defineKind('bench.weighed', {
    async run({ lane = '' }) {
      if (order.push(lane) >= starts) enough.resolve()
      await pause(1)
    },
  })
  const names = Object.keys(weightOf)
  const engine = createEngine({
    database: place.databaseUrl,
    kinds: [kind],
    lanes: Object.fromEntries(Object.entries(weightOf).map(([name, weight]) => [name, { weight }])),
    pools: { light: { core: slots, max: slots } },
  })
  for (const lane of names) await engine.enqueueMany(Array.from({ length: starts }, (_, n) => kind({ n }, { lane })))
  await place.settle()
  await engine.start()
  await enough.promise
  const counted = order.slice(0, starts)
  await engine.stop()
  await place.drop()
  const shares = names.map((name) => counted.filter((lane) => lane === name).length / starts)
  const wanted = Object.values(weightOf).map((weight) => weight / 7)
  prove(shares.length === wanted.length, 'all lanes were counted')
  const errors = shares.map((share, at) => Math.abs(share / (wanted[at] ?? 1) - 1))
  return { weightError: Math.max(...errors), shares, slots, starts }
}
