/**
 * A crowd: a hundred people are collected at once, and ten of their tokens die on the way. The other ninety must complete, and be treated alike.
 *
 * Jain's index is taken over the jobs that were settled for each of the ninety from the start until the first of them has nothing left to wait for: that is
 * as long as all of them have a backlog. All requests are made before a worker starts.
 */
import type { Strategy } from '@sluice/collector'
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { unlimited } from './cold.ts'
import { compare, faultsOf } from './compare.ts'
import { smallPage } from './many-calls.ts'
import { setStage } from './stage.ts'

const workers = 2
const slots = 8

export async function crowd(ground: Ground, strategy: Strategy, quick: boolean) {
  const [size, revoked, repositories] = quick ? [30, 3, 5] : [100, 10, 5]
  const people = Array.from({ length: size }, (_, at) => ({
    login: `person-${at}`,
    repositories,
    commits: strategy === 'rest' ? repositories * 4 : repositories * smallPage * 3,
    issues: repositories,
    pullRequests: repositories,
  }))
  const stage = await setStage(ground, { strategy, slots, sim: { seed: 9, people, ...unlimited } })
  const { sim } = stage
  if (strategy === 'graphql') await sim.breakAbove(smallPage)
  const users = []
  for (const { login } of people) users.push(await stage.register(login))
  await stage.request(users)
  const [ill, well] = [users.slice(0, revoked), users.slice(revoked)]
  const already = (await sim.oracle()).requests
  const first = sim.ringAt(already + size * 6)
  await stage.staff(workers)
  await first
  for (const { login } of ill) await sim.chaos({ revoke: login })
  const states = await stage.ended(well)
  const completed = [...states.values()].filter((state) => state === 'completed').length
  for (const { id, login } of well) {
    const differences = await compare(stage, id, await sim.truth(login))
    prove(faultsOf(differences) === 0, `the collection of ${login} is the truth`)
  }
  const refused = await stage.ask<{ id: string }>(`select id from collector.users where token_state = 'refused'`)
  prove(refused.length === revoked, `${revoked} tokens were refused on the way (${refused.length})`)
  const settled = await settledWhileAllWait(
    stage.ask,
    well.map(({ id }) => String(id)),
  )
  prove(settled.length === well.length && Math.min(...settled) > 3, 'everybody had a backlog for a while')
  const { units, overBudget, sentWhileLimited, seconds } = await stage.strike()
  return {
    units,
    seconds,
    completedOthers: completed,
    others: well.length,
    jain: jain(settled),
    leastSettled: Math.min(...settled),
    mostSettled: Math.max(...settled),
    users: size,
    revoked,
    overBudget,
    sentWhileLimited,
  }
}

type Ask = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>

async function settledWhileAllWait(ask: Ask, owners: readonly string[]): Promise<number[]> {
  const rows = await ask<{ settled: number }>(
    `with mine as (select owner, started_at, finished_at from sluice.job_ledger where owner = any($1) and lane like 'github:%'),
     over as (select min(last) as at from (select max(started_at) as last from mine group by owner) ends)
     select count(*) filter (where finished_at <= over.at)::int as settled from mine, over group by owner`,
    [owners],
  )
  return rows.map(({ settled }) => settled)
}

export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0)
  return sum ** 2 / (shares.length * shares.reduce((total, share) => total + share ** 2, 0))
}
