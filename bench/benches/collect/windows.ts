/**
 * Windows: thirty-two slots in four processes collect one person whose token has fewer units in a window than are needed, several times over.
 *
 * T_bound is the shortest time that the budget allows: from the request until the last of the windows that are used up whole has ended, if each began where the one before ended, and then the shortest
 * time in which this very crew spent as many units in any window as the last one needs. T_wall counts from the request to the end of the run, with discovery and statistics in it. So a
 * ratio of 1 means: every window was used up before it ended, and the next one began at once.
 */
import type { Strategy } from '@sluice/collector'
import type { OracleEntry } from '@sluice/github-sim'
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { personOfCalls, smallPage } from './many-calls.ts'
import { setStage } from './stage.ts'

const workers = 4
const slots = 8

export async function windows(ground: Ground, strategy: Strategy, quick: boolean) {
  const [wanted, limit, windowMs] = quick ? [3, 150, 8_000] : [5, 500, 20_000]
  const resource = strategy === 'graphql' ? 'graphql' : 'core'
  const person = personOfCalls('windows', strategy, limit * (wanted - 0.5))
  const stage = await setStage(ground, {
    strategy,
    slots,
    floor: 0,
    cap: workers * slots,
    sim: {
      seed: 6,
      people: [person],
      windowMs,
      limit: strategy === 'rest' ? limit : 5_000,
      graphqlLimit: limit,
      latencyMs: 10,
      secondary: { concurrent: 1_000, pointsPerMinute: 1_000_000 },
    },
  })
  if (strategy === 'graphql') await stage.sim.breakAbove(smallPage)
  const user = await stage.register(person.login)
  await stage.staff(workers)
  const requestedAt = Date.now() // the simulator's clock is the machine's as long as nobody turns it
  const { seconds } = await stage.collect([user])
  const entries = (await stage.sim.entries()).filter((entry) => entry.resource === resource)
  const spent = spentByWindow(entries, windowMs)
  const needed = entries.reduce((sum, { units }) => sum + units, 0)
  prove(Math.ceil(needed / limit) === wanted, `the collection needs ${wanted} windows (${needed} units)`)
  const lastMs = shortest(spent, needed - (wanted - 1) * limit)
  const firstEndsAt = endOfWindow(Math.min(requestedAt, entries[0]?.at ?? requestedAt), windowMs)
  const boundSeconds = (firstEndsAt + (wanted - 2) * windowMs + lastMs - requestedAt) / 1000
  const { units, overBudget, sentWhileLimited } = await stage.strike()
  return {
    units,
    seconds,
    boundRatio: boundSeconds / seconds,
    boundSeconds,
    lastWindowMs: lastMs,
    needed,
    limit,
    windowMs,
    windows: spent.map((calls) => calls.reduce((sum, call) => sum + call.units, 0)),
    workers: workers * slots,
    processes: workers,
    overBudget,
    sentWhileLimited,
  }
}

/** A window begins with the first call after the end of the one before. */
function spentByWindow(entries: readonly OracleEntry[], windowMs: number): OracleEntry[][] {
  const spent: OracleEntry[][] = []
  let endsAt = Number.NEGATIVE_INFINITY
  for (const entry of entries.filter(({ units }) => units > 0).toSorted((a, b) => a.at - b.at)) {
    if (entry.at >= endsAt) {
      spent.push([])
      endsAt = endOfWindow(entry.at, windowMs)
    }
    spent.at(-1)?.push(entry)
  }
  return spent
}

/** A reset is told in whole seconds, so windows end on them. */
const endOfWindow = (startedAt: number, windowMs: number): number => Math.ceil((startedAt + windowMs) / 1000) * 1000

/** The shortest time in which so many units were spent within one window; nothing if that was never done. */
function shortest(spent: readonly (readonly OracleEntry[])[], units: number): number {
  let least = Number.POSITIVE_INFINITY
  for (const calls of spent) {
    let [from, sum] = [0, 0]
    for (const call of calls) {
      sum += call.units
      while (sum - (calls[from]?.units ?? 0) >= units) sum -= calls[from++]?.units ?? 0
      if (sum >= units) least = Math.min(least, call.at - (calls[from]?.at ?? call.at))
    }
  }
  return Number.isFinite(least) ? least : 0
}
