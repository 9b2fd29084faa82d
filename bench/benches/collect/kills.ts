/**
 * Kills: a worker dies by kill -9 in the middle of its calls, again and again; another one stands by and takes its place. What is paid for twice?
 *
 * The simulator rings after a random number of calls, and the worker is killed at once. In flight at the kill are the jobs that the dead process held: each is one call
 * that was about to be sent, was under way, or had been answered and not stored yet. Refetched is every call that was answered well and paid for, and came a second time, word for word.
 */
import type { Strategy } from '@sluice/collector'
import type { OracleEntry } from '@sluice/github-sim'
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { unlimited } from './cold.ts'
import { compare, faultsOf } from './compare.ts'
import { personOfCalls, smallPage } from './many-calls.ts'
import { setStage } from './stage.ts'

const slots = 8
const callsBetween = [10, 40] as const
const leaseMs = 1_000

export async function kills(ground: Ground, strategy: Strategy, times: number) {
  const meanCalls = (callsBetween[0] + callsBetween[1]) / 2
  const person = personOfCalls('killed', strategy, times * meanCalls * 1.5)
  const stage = await setStage(ground, {
    strategy,
    slots,
    leaseMs,
    crashesMax: 100, // none of the deaths is a job's fault
    sim: { seed: 8, people: [person], ...unlimited, latencyMs: 15 },
  })
  const { sim } = stage
  if (strategy === 'graphql') await sim.breakAbove(smallPage)
  const random = seeded(8)
  const user = await stage.register(person.login)
  const inFlight: number[] = []
  let calls = (await sim.oracle()).requests
  let [worker, standby] = [await stage.hire(), stage.hire()]
  await stage.request([user])
  for (let kill = 0; kill < times; kill += 1) {
    const [least, most] = callsBetween
    const rung = sim.ringAt(calls + least + Math.floor(random() * (most - least)))
    await worker.start()
    calls = await rung
    await worker.kill()
    const [held] = await stage.ask<{ jobs: number }>(
      `select count(*)::int as jobs from sluice.job where lane like 'github:%' and worker = (select max(id) from sluice.worker)`,
    )
    inFlight.push(held?.jobs ?? 0)
    worker = await standby
    standby = stage.hire()
  }
  await worker.start()
  const states = await stage.ended([user])
  prove(states.get(user.id) === 'completed', `the collection completes after ${times} kills (${states.get(user.id)})`)
  const differences = await compare(stage, user.id, await sim.truth(person.login))
  prove(faultsOf(differences) === 0, `and is whole (${JSON.stringify(differences)})`)
  const refetched = refetchedUnits(await sim.entries())
  await standby
  const { units, overBudget, sentWhileLimited, seconds } = await stage.strike()
  const held = inFlight.reduce((sum, jobs) => sum + jobs, 0)
  prove(held > 0, 'calls were in flight at the kills')
  return {
    units,
    seconds,
    kills: times,
    refetched,
    refetchedPerKill: refetched / times,
    inFlightPerKill: held / times,
    refetchedToInFlight: refetched / held,
    slots,
    overBudget,
    sentWhileLimited,
  }
}

/** Units of calls that had been answered well before, word for word. */
function refetchedUnits(entries: readonly OracleEntry[]): number {
  const paid = new Set<string>()
  let units = 0
  for (const entry of entries) {
    if (entry.status !== 200 || entry.units === 0) continue
    if (paid.has(entry.call)) units += entry.units
    paid.add(entry.call)
  }
  return units
}

/** The same kills in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
