/**
 * The proof: what the simulator knows to be true, compared with what the database holds.
 *
 * The simulator shares no code with what it judges. It also counted every request that reached it, so that a call past a budget cannot hide; and that jobs
 * took effect once is counted from the engine's ledger.
 */
import type { GithubSim, GroundTruth } from '@sluice/github-sim'
import type { Client } from 'pg'

export interface Proof {
  /** Repositories, commits, issues and pull requests that there are. */
  readonly facts: number
  /** True, and not stored as it is. */
  readonly missing: number
  /** Stored, and not true. */
  readonly wrong: number
  /** Jobs that ended more than once. */
  readonly doubled: number
  /** Jobs that never ended although their run did, and runs that did not complete. */
  readonly lost: number
  /** Calls past a budget, of all calls. */
  readonly overBudget: number
  readonly calls: number
  /** Attempts that ended with their process. */
  readonly rescued: number
  readonly runs: number
}

const stored = `
  with live as (select id from collector.collection where user_id = $1 and purpose = 'live')
  select 'repository ' || r.id || ' ' || r.name as fact from collector.repository r join live on live.id = r.collection_id where r.state in ('active', 'empty')
  union all
  select 'commit ' || repository_id || ' ' || sha || ' ' || coalesce(author_id, 0) || ' ' || coalesce(additions, -1) || ' ' || coalesce(deletions, -1)
  from collector.commit join live on live.id = collection_id where gone_at is null
  union all
  select 'issue ' || repository_id || ' ' || number || ' ' || state from collector.issue join live on live.id = collection_id where not is_pull_request
  union all
  select 'pull request ' || repository_id || ' ' || number || ' ' || case when merged_at is null then state else 'merged' end
  from collector.pull_request join live on live.id = collection_id`

const engine = `
  select (select count(*) - count(distinct id) from sluice.job_ledger where state = 'succeeded')::int as doubled,
         ((select count(*) from sluice.run where state <> 'completed') + (select coalesce(sum(failed), 0) from sluice.run)
          + (select count(*) from sluice.job where run is not null))::int as lost,
         (select count(*) from sluice.attempt where outcome = 'lost')::int as rescued,
         (select count(*) from sluice.run)::int as runs`

export async function countProof(client: Client, sim: GithubSim, users: ReadonlyMap<string, number>): Promise<Proof> {
  let [facts, missing, wrong] = [0, 0, 0]
  for (const [login, id] of users) {
    const truth = new Set(factsOf(sim.world.groundTruth(login) as GroundTruth))
    const { rows } = await client.query<{ fact: string }>(stored, [id])
    const held = new Set(rows.map(({ fact }) => fact))
    facts += truth.size
    missing += [...truth].filter((fact) => !held.has(fact)).length
    wrong += [...held].filter((fact) => !truth.has(fact)).length
  }
  const { rows } = await client.query<Pick<Proof, 'doubled' | 'lost' | 'rescued' | 'runs'>>(engine)
  const { overBudget, requests } = sim.oracle.summary()
  return {
    facts,
    missing,
    wrong,
    overBudget,
    calls: requests,
    ...(rows[0] as Pick<Proof, 'doubled' | 'lost' | 'rescued' | 'runs'>),
  }
}

function factsOf({ repositories, commits, issues, pulls, ownPulls }: GroundTruth): string[] {
  const readable = repositories.filter(({ state }) => state === 'ok' || state === 'empty')
  return [
    ...readable.map(({ id, name }) => `repository ${id} ${name}`),
    ...Object.entries(commits).flatMap(([repo, all]) =>
      all.map(({ sha, authorId, additions, deletions }) => `commit ${repo} ${sha} ${authorId ?? 0} ${additions} ${deletions}`),
    ),
    ...Object.entries(issues).flatMap(([repo, all]) => all.map(({ number, state }) => `issue ${repo} ${number} ${state}`)),
    ...[...Object.values(pulls).flat(), ...ownPulls].map(
      ({ repoId, number, state, mergedAt }) => `pull request ${repoId} ${number} ${mergedAt === null ? state : 'merged'}`,
    ),
  ]
}

export const holds = ({ facts, missing, wrong, doubled, lost, overBudget }: Proof): boolean =>
  facts > 0 && missing + wrong + doubled + lost + overBudget === 0
