/**
 * A registry: very many people are registered; how long does a day take, and how large is the database?
 *
 * Registration asks GitHub about each token. Over HTTP that would only measure the loop, so people and tokens are put straight into the tables here. Then everybody is
 * collected once (discovery and all that it finds), and once more a virtual day later, when nothing has changed.
 */
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { unlimited } from './cold.ts'
import { type Person, type Stage, setStage } from './stage.ts'

const dayMs = 86_400_000
const repositories = 20
const workers = 2
const slots = 16

export async function registry(ground: Ground, people: number) {
  const plans = Array.from({ length: people }, (_, at) => ({
    login: `member-${at}`,
    repositories,
    commits: repositories * 2,
    issues: repositories,
    pullRequests: 0,
  }))
  const stage = await setStage(ground, { strategy: 'graphql', slots, sim: { seed: 11, people: plans, ...unlimited } })
  const users = await putPeople(stage)
  await stage.staff(workers)
  const cold = await stage.collect(users, 3_600_000)
  const [stored] = await stage.ask<{ repositories: number; people: number }>(
    'select count(*)::int as repositories, count(distinct collection_id)::int as people from collector.repository',
  )
  prove(
    stored?.people === people && stored.repositories === people * repositories,
    `all repositories are known (${JSON.stringify(stored)})`,
  )
  const coldBytes = await databaseBytes(stage)
  await stage.sim.advance(dayMs)
  const warm = await stage.collect(users, 3_600_000)
  const warmBytes = await databaseBytes(stage)
  const { units, overBudget, sentWhileLimited, seconds } = await stage.strike()
  return {
    units,
    seconds,
    users: people,
    repositories: people * repositories,
    discoverySeconds: cold.seconds,
    discoveryUnitsPerUser: cold.units / people,
    warmDaySeconds: warm.seconds,
    warmUnitsPerUser: warm.units / people,
    usersPerSecondWarm: people / warm.seconds,
    databaseMb: coldBytes / 1e6,
    databaseMbAfterWarmDay: warmBytes / 1e6,
    overBudget,
    sentWhileLimited,
  }
}

async function databaseBytes({ ask }: Stage): Promise<number> {
  const [row] = await ask<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
  return Number(row?.bytes)
}

async function putPeople({ engine, sim, ask }: Stage): Promise<Person[]> {
  const accounts = await sim.accounts()
  const [ids, nodes, logins] = [
    accounts.map(({ id }) => id),
    accounts.map(({ nodeId }) => nodeId),
    accounts.map(({ login }) => login),
  ]
  await ask(
    `with people as (
       insert into collector.users (id, node_id, login, api_url)
       select p.*, $4 from unnest($1::bigint[], $2::text[], $3::text[]) as p returning id
     )
     insert into collector.collection (user_id, purpose, strategy) select id, 'live', 'graphql' from people`,
    [ids, nodes, logins, sim.url.replace(/\/+$/, '')],
  )
  for (const { id, token } of accounts) await engine.secrets.put(`github:${id}`, token)
  return accounts
}
