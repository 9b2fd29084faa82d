/**
 * Windows: thirty-two slots in four processes collect one person whose token has fewer units in a window than are needed, several times over.
 *
 * T_bound is the shortest time that the budget allows: all windows but the last from beginning to end, and for the last one the shortest time in which this very
 * crew made as many calls in any of the windows before. T_wall counts from the request to the end of the run, with discovery and statistics in it. So a
 * ratio of 1 means: every window was used up before it ended, and the next one began at once.
 */
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import type { Entry } from './simulator.ts'
import { setStage, type Strategy } from './stage.ts'

const workers = 4
const slots = 8
const limit = 500

export async function windows(ground: Ground, strategy: Strategy, quick: boolean) {
  const [wanted, windowMs] = quick ? [3, 8_000] : [5, 18_000]
  const resource = strategy === 'graphql' ? 'graphql' : 'core'
  const person = personOf(strategy, limit * (wanted - 0.5))
  const stage = await setStage(ground, {
    strategy,
    slots,
    floor: 0,
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
  const user = await stage.register(person.login)
  await stage.staff(workers)
  await stage.sim.advance(2 * windowMs) // the window that registration began is over
  const { seconds } = await stage.collect([user])
  const entries = (await stage.sim.entries()).filter((entry) => entry.resource === resource)
  const spent = spentByWindow(entries, windowMs)
  const needed = entries.reduce((sum, { units }) => sum + units, 0)
  const leastWindows = Math.ceil(needed / limit)
  prove(leastWindows === wanted, `the collection needs ${wanted} windows (${needed} units)`)
  const lastMs = shortest(spent, needed - (leastWindows - 1) * limit)
  const boundSeconds = ((leastWindows - 1) * windowMs + lastMs) / 1000
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

/** Small repositories: calls are what is needed, not rows. */
function personOf(strategy: Strategy, units: number) {
  const login = 'windows'
  return strategy === 'graphql'
    ? { login, repositories: Math.round(units / 3), commits: units, issues: units, pullRequests: units }
    : { login, repositories: 10, commits: Math.round(units), issues: 10, pullRequests: 10 }
}

/** A window begins with the first call after the end of the one before. */
function spentByWindow(entries: readonly Entry[], windowMs: number): Entry[][] {
  const spent: Entry[][] = []
  let endsAt = Number.NEGATIVE_INFINITY
  for (const entry of entries.filter(({ units }) => units > 0).toSorted((a, b) => a.at - b.at)) {
    if (entry.at >= endsAt) {
      spent.push([])
      endsAt = entry.at + windowMs
    }
    spent.at(-1)?.push(entry)
  }
  return spent
}

/** The shortest time in which so many units were spent within one window. */
function shortest(spent: readonly (readonly Entry[])[], units: number): number {
  let least = Number.POSITIVE_INFINITY
  for (const calls of spent) {
    let [from, sum] = [0, 0]
    for (const [to, call] of calls.entries()) {
      sum += call.units
      while (sum - (calls[from]?.units ?? 0) >= units) sum -= calls[from++]?.units ?? 0
      if (sum >= units) least = Math.min(least, call.at - (calls[from]?.at ?? call.at))
    }
  }
  return least
}
