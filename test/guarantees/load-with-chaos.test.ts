/**
 * The whole machine under load while somebody kills and stops its processes at random: at the end every acknowledged job has ended once
 * and left its effect once, and nothing else is there. The faults follow a seed, which is printed; SLUICE_SEED repeats one.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { type Program, test } from '../support/processes.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

/** How long it goes on at least, and until the faults have hit often enough. */
const chaosMs = 15_000
const chaosMsMax = 60_000
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
  const faults = { kills: 0, stops: 0 }
  const beganMs = performance.now()
  const losses = async () => {
    const { rows } = await client.query<{ lost: number; workers: number }>(
      `select count(*)::int as lost, count(distinct worker)::int as workers from sluice.attempt where outcome = 'lost'`,
    )
    return rows[0]!
  }
  const over = new AbortController()
  const clock = (async () => {
    await wait(chaosMs)
    await eventually(async () => {
      const enough = acknowledged.length > 500 && faults.kills > 5 && faults.stops > 5 && (await losses()).lost > 20
      return enough || performance.now() - beganMs > chaosMsMax
    }, 2 * chaosMsMax)
  })().finally(() => over.abort())
  const underLoad = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const shapes = [stepPlain({}), stepWrite({}), stepNext({}), stepBoth({})]
      const single = shapes.flatMap((shape) => [shape, shape]).map((request) => enqueuer.enqueue(request))
      const bulk = await enqueuer.enqueueMany(shapes.flatMap((shape) => [shape, shape, shape]))
      for (const { id } of [...bulk, ...(await Promise.all(single))]) acknowledged.push(id)
      await wait(enqueueEveryMs)
    }
  }
  await Promise.all([clock, torment(workers, start, faults, () => over.signal.aborted), underLoad()])

  await drained(client, 90_000)
  const figures = { ...faults, ...(await losses()), acknowledged: acknowledged.length }
  console.log(`load with chaos: ${JSON.stringify(figures)}`)
  expect(await tally(client, acknowledged), `seed ${seed}`).toEqual(nothingWrong)
  // The faults did hit: jobs were lost with their processes and ran again.
  expect(figures.acknowledged).toBeGreaterThan(500)
  expect(figures.kills).toBeGreaterThan(5)
  expect(figures.stops).toBeGreaterThan(5)
  expect(figures.lost).toBeGreaterThan(20)
}, 300_000)

/** Kills one at random and starts another in its place, or stops one for a while that is shorter or longer than its lease. */
async function torment(
  workers: Program[],
  start: () => Program,
  faults: { kills: number; stops: number },
  over: () => boolean,
): Promise<void> {
  const random = randomFrom(seed)
  const naps: Promise<void>[] = []
  while (!over()) {
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
