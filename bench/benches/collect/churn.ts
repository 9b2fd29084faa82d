/**
 * Churn: a virtual day in which something happens all the time. Every hour one percent of all items change, something rare and nasty happens to one of the
 * repositories, and a collection follows. What was stored is compared with the truth several times on the way and at the end.
 *
 * Twice GitHub has enough of us and says so with a secondary limit; twice it breaks down on a call.
 */
import type { Strategy } from '@sluice/collector'
import type { GroundTruth } from '@sluice/github-sim'
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { coldPerson, sized, unlimited } from './cold.ts'
import { compare, type Differences } from './compare.ts'
import { itemsOf, nasty } from './deeds.ts'
import { setStage } from './stage.ts'

const hours = 24
const hourMs = 3_600_000
const shareAnHour = 0.01
const compareEvery = 4
/** So that each rare deed finds a repository of its own. */
const repositoriesLeast = 20
/** Barred repositories are tried again after a day. The collector's clock does not turn with the simulator's, so they are made a day older. */
const dayLater = `update collector.repository set state_since = state_since - interval '1 day' where state in ('blocked', 'forbidden')`
const other = { login: 'neighbour', repositories: 2, commits: 20, issues: 4, pullRequests: 2 }

export async function churn(ground: Ground, strategy: Strategy, share: number, everyHours: number) {
  const person = {
    ...sized(coldPerson, share),
    repositories: Math.max(repositoriesLeast, Math.round(coldPerson.repositories * share)),
    login: 'churned',
    ownPullRequestsElsewhere: 20,
    events: 50,
  }
  const stage = await setStage(ground, { strategy, sim: { seed: 12, people: [person, other], ...unlimited } })
  const { sim } = stage
  const items = person.commits + person.issues + person.pullRequests
  await stage.staff(2)
  const user = await stage.register(person.login)
  await stage.collect([user])
  const first = await sim.truth(person.login)
  const spent = { units: 0, seconds: 0, changed: 0 }
  const found: Differences[] = [await compare(stage, user.id, first)]
  const plan = nasty(repositoriesBySize(first), other.login)
  let login = person.login
  for (let hour = everyHours; hour <= hours; hour += everyHours) {
    await sim.advance((everyHours * hourMs) / 2)
    const deeds = Array.from({ length: everyHours }, (_, back) => plan[hour - back] ?? []).flat()
    for (const [deed, words] of deeds) spent.changed += itemsOf([{ deed, detail: await sim.churn(deed, words) }])
    if (deeds.some(([deed]) => deed === 'renameLogin')) login = `${person.login}-renamed`
    if (deeds.some(([deed]) => deed === 'unblock' || deed === 'guard')) await stage.ask(dayLater)
    let changed = 0
    while (changed < items * shareAnHour * everyHours)
      changed += itemsOf(await sim.churn('step', { share: 0.2, logins: [login], gentle: true }))
    spent.changed += changed
    await sim.advance((everyHours * hourMs) / 2)
    if (hour % 10 === 6) await sim.chaos({ trouble: 'secondary limit', times: 1, retryAfterSeconds: 1 })
    if (hour % 10 === 8) await sim.chaos({ trouble: 'bad gateway', times: 1 })
    const { units, seconds } = await stage.collect([user])
    spent.units += units
    spent.seconds += seconds
    if (hour % compareEvery === 0) found.push(await compare(stage, user.id, await sim.truth(login)))
  }
  const sum = (fault: keyof Differences) => found.reduce((total, one) => total + one[fault], 0)
  prove(
    sum('compared') > 0.8 * items * found.length,
    `everything that is not deleted or barred was compared each time (${sum('compared')})`,
  )
  const { units, overBudget, sentWhileLimited, seconds } = await stage.strike()
  return {
    units,
    seconds,
    churnUnitsPerItem: spent.units / spent.changed,
    churnUnits: spent.units,
    changedItems: spent.changed,
    hours,
    everyHours,
    secondsAnHour: spent.seconds / hours,
    compared: sum('compared'),
    missing: sum('missing'),
    duplicated: sum('duplicated'),
    stale: sum('stale'),
    falselyDeleted: sum('falselyDeleted'),
    unknown: sum('unknown'),
    overBudget,
    sentWhileLimited,
  }
}

/** The one with most commits first. */
function repositoriesBySize({ repositories, commits }: GroundTruth): number[] {
  const size = (id: number) => commits[id]?.length ?? 0
  return repositories.map(({ id }) => id).toSorted((a, b) => size(b) - size(a))
}
