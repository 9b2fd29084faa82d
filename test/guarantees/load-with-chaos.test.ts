/**
 * The whole machine under load while somebody kills and stops its processes at random: at the end every acknowledged job has ended once
 * and left its effect once, and nothing else is there. The faults follow a seed, which is printed; SLUICE_SEED repeats one.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { type Program, test } from '../support/processes.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

const chaosMs = 15_000
const workersMax = 4
const enqueueEveryMs = 100
const seed = Number(process.env['SLUICE_SEED'] ?? Date.now() % 1_000_000)

test('[Q-02] [E-07] [E-09] under load, with processes killed and stopped at random, nothing is lost, doubled or unexpected', async ({
  client,
  engines,
  program,
}) => {
  console.log(`load with chaos: seed ${seed}`)
  await client.query(effectTable)
  const enqueuer = engines({ kinds: stepKinds })
  await enqueuer.migrate()
  const start = () =>
    program('step-worker', {
      lease: '1s',
      quiet: true,
      workMs: 20,
      // Whoever is killed at random by somebody else is no poison.
      crashesMax: 100,
      pools: { light: { core: 20, max: 40 } },
    })
  const workers = Array.from({ length: workersMax }, start)
  await Promise.all(workers.map((worker) => worker.hears('worker')))

  const acknowledged: number[] = []
  const endMs = performance.now() + chaosMs
  const underLoad = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const shapes = [stepPlain({}), stepWrite({}), stepNext({}), stepBoth({})]
      const single = shapes.flatMap((shape) => [shape, shape]).map((request) => enqueuer.enqueue(request))
      const bulk = await enqueuer.enqueueMany(shapes.flatMap((shape) => [shape, shape, shape]))
      for (const { id } of [...bulk, ...(await Promise.all(single))]) acknowledged.push(id)
      await wait(enqueueEveryMs)
    }
  }
  const [faults] = await Promise.all([torment(workers, start, endMs), underLoad()])

  await drained(client, 60_000)
  const { rows } = await client.query(
    `select count(*)::int as lost, count(distinct worker)::int as workers from sluice.attempt where outcome = 'lost'`,
  )
  const figures = { ...faults, ...rows[0], acknowledged: acknowledged.length }
  console.log(`load with chaos: ${JSON.stringify(figures)}`)
  expect(await tally(client, acknowledged), `seed ${seed}`).toEqual(nothingWrong)
  // The faults did hit: jobs were lost with their processes and ran again.
  expect(figures.acknowledged).toBeGreaterThan(500)
  expect(figures.kills).toBeGreaterThan(5)
  expect(figures.stops).toBeGreaterThan(5)
  expect(figures.lost).toBeGreaterThan(20)
})

/** Kills one at random and starts another in its place, or stops one for a while that is shorter or longer than its lease. */
async function torment(workers: Program[], start: () => Program, endMs: number): Promise<{ kills: number; stops: number }> {
  const random = randomFrom(seed)
  const naps: Promise<void>[] = []
  const faults = { kills: 0, stops: 0 }
  while (performance.now() < endMs) {
    await wait(100 + random() * 400)
    const place = Math.floor(random() * workers.length)
    const victim = workers[place]
    if (random() < 0.5) {
      faults.kills++
      victim!.signal('SIGKILL')
      workers[place] = start()
    } else {
      faults.stops++
      victim!.signal('SIGSTOP')
      naps.push(wait(200 + random() * 2_000).then(() => victim!.signal('SIGCONT')))
    }
  }
  await Promise.all(naps)
  return faults
}

/** mulberry32: small, and the same on every machine. */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
