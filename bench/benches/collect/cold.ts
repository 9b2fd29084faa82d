/**
 * Cold and warm: one person is collected for the first time, everything is compared with the truth, and then collected twice more although nothing
 * has changed. The second warm run counts: the first may still have ETags to learn.
 */
import type { Strategy } from '@sluice/collector'
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { compare, faultsOf } from './compare.ts'
import { setStage } from './stage.ts'

export const coldPerson = { login: 'cold', repositories: 50, commits: 10_000, issues: 2_000, pullRequests: 1_000 }

/** Far above what is asked here: what a collection costs is the question, not how long its windows are. */
export const unlimited = {
  limit: 1_000_000,
  graphqlLimit: 1_000_000,
  secondary: { concurrent: 1_000, pointsPerMinute: 10_000_000 },
}

type Plan = typeof coldPerson

/** The same person, so much smaller. */
export const sized = (plan: Plan, share: number): Plan => ({
  login: plan.login,
  repositories: Math.ceil(plan.repositories * share),
  commits: Math.round(plan.commits * share),
  issues: Math.round(plan.issues * share),
  pullRequests: Math.round(plan.pullRequests * share),
})

export async function cold(ground: Ground, strategy: Strategy, share: number) {
  const person = sized(coldPerson, share)
  const { login } = person
  const stage = await setStage(ground, { strategy, sim: { seed: 5, people: [person], ...unlimited } })
  await stage.staff(2)
  const user = await stage.register(login)
  const first = await stage.collect([user])
  const coldOperations = (await stage.sim.oracle()).byOperation
  const truth = await stage.sim.truth(login)
  const differences = await compare(stage, user.id, truth)
  prove(faultsOf(differences) === 0, `the first collection is the truth (${JSON.stringify(differences)})`)
  prove(
    differences.compared >= person.commits + person.issues + person.pullRequests,
    `all items were compared (${differences.compared})`,
  )
  await stage.collect([user])
  const warm = await stage.collect([user])
  const { units, overBudget, sentWhileLimited, seconds } = await stage.strike()
  return {
    units,
    seconds,
    coldUnits: first.units,
    coldSeconds: first.seconds,
    warmUnitsPerUser: warm.units,
    warmSeconds: warm.seconds,
    ...person,
    compared: differences.compared,
    unknown: differences.unknown,
    operations: JSON.stringify(coldOperations),
    overBudget,
    sentWhileLimited,
  }
}
