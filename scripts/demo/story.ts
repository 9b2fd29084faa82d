/**
 * The story: orders keep coming while one worker is killed, one is frozen past its lease, and one is stopped in order. It is over when
 * nothing is left to do.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Crew } from './crew.ts'
import type { Shop } from './shop.ts'
import type { Stage } from './stage.ts'

export interface Cast {
  readonly crew: Crew
  readonly shop: Shop
  readonly stage: Stage
  readonly signal: AbortSignal
}

export const orders = 300
const everyMs = 40
const limitMs = 60_000
const scenesMs = { kill: 2_500, freeze: 6_000, wakeUp: 9_200, stop: 11_000 }

export async function tellStory(cast: Cast): Promise<void> {
  const { crew, stage, signal } = cast
  while (crew.leader === undefined || crew.members.some(({ condition }) => condition !== 'working')) {
    if (stage.elapsedMs > limitMs) throw new Error('the workers did not start')
    await delay(50, undefined, { signal })
  }
  await cast.shop.admitTenants()
  const placing = placeOrders(cast)
  const playing = play(cast)
  await Promise.all([placing, playing])
  while (!stage.idle && stage.elapsedMs < limitMs) await delay(50, undefined, { signal })
}

/** Until Ctrl-C: an order now and then, so that there is something to disturb. */
export async function keepGoing({ stage, shop, signal }: Cast): Promise<void> {
  for (;;) {
    await shop.takeOrder()
    await stage.prove()
    await delay(700, undefined, { signal })
  }
}

async function placeOrders({ shop, stage, signal }: Cast): Promise<void> {
  const openedMs = stage.elapsedMs
  for (let taken = 1; taken <= orders; taken++) {
    await shop.takeOrder()
    // By the clock, so that a slow machine does not make the story longer.
    await delay(Math.max(0, openedMs + taken * everyMs - stage.elapsedMs), undefined, { signal })
  }
  stage.say(`the shop closes: ${orders} orders taken, ${shop.rolledBack} more were rolled back`)
}

async function play({ crew, stage, signal }: Cast): Promise<void> {
  const openedMs = stage.elapsedMs
  const until = async (atMs: number): Promise<void> =>
    delay(Math.max(0, openedMs + atMs - stage.elapsedMs), undefined, { signal })

  await until(scenesMs.kill)
  const killed = crew.leader ?? 1
  stage.say(`worker ${killed}, which leads, is killed with kill -9 while it holds ${await stage.holdings(killed)}`, 'bad')
  crew.kill(killed)

  await until(scenesMs.freeze)
  const frozen = crew.members.find(({ number, leads }) => number !== killed && !leads)?.number ?? 1
  stage.say(`worker ${frozen} is frozen (SIGSTOP) while it holds ${await stage.holdings(frozen)}`, 'warn')
  crew.freeze(frozen)

  await until(scenesMs.wakeUp)
  stage.say(`worker ${frozen} is woken up (SIGCONT), long after its lease`, 'warn')
  crew.wakeUp(frozen)

  await until(scenesMs.stop)
  const stopped = crew.members.find(({ number }) => number !== killed && number !== frozen)?.number ?? 1
  stage.say(`worker ${stopped} is asked to stop (SIGTERM) while it holds ${await stage.holdings(stopped)}`)
  await crew.stop(stopped)
}
