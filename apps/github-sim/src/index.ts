/**
 * A GitHub on your machine: REST and GraphQL over people and repositories that are generated from a seed, with GitHub's
 * budgets, conditional answers, redirects and refusals.
 *
 *     const sim = await startGithubSim({ people: [{ login: 'ada', repositories: 3, commits: 100, issues: 20, pullRequests: 10 }] })
 *     await fetch(`${sim.url}/user`, { headers: { authorization: `Bearer ${sim.tokenOf('ada')}`, 'user-agent': 'me' } })
 *
 * - `sim.url` answers as api.github.com does, and under `/api/v3` as GitHub Enterprise does.
 * - `sim.world` is the truth; `sim.world.groundTruth(login)` is what a complete collection must hold.
 * - `sim.churn` lets people work: push, merge late, force, rename, delete. `sim.clock.advance(ms)` lets time pass.
 * - `sim.chaos` revokes tokens and makes requests go wrong by script.
 * - `sim.oracle` has every request and its price, and counts what must not happen.
 * - `sim.adminUrl` offers all of this over HTTP: `GET /truth/:login`, `GET /oracle?since=`, `POST /oracle/reset`,
 *   `GET /clock`, `POST /clock/advance`, `POST /churn/:deed`, `POST /chaos`, `GET /tokens`.
 *
 * It is the judge of collectors, so it shares no code with any.
 */
export type { ChaosRule, Trouble } from './chaos/rule.ts'
export type { StepOptions } from './churn/step.ts'
export type { OracleEntry, OracleSummary } from './oracle/oracle.ts'
export { type GithubSim, type SimOptions, startGithubSim } from './start.ts'
export type { GroundTruth } from './world/ground-truth.ts'
export type { Account, Commit, Issue, PersonPlan, PullRequest, Repo, SimEvent } from './world/model.ts'
