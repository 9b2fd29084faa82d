/**
 * Starts a simulator: wires the parts and opens two ports, one that is GitHub and one for those who run the experiment.
 */
import { startAdmin } from './admin/admin.ts'
import { Budgets } from './budget/budgets.ts'
import { SecondaryLimits } from './budget/secondary.ts'
import { Chaos } from './chaos/chaos.ts'
import { Churn } from './churn/churn.ts'
import { SimClock } from './clock/clock.ts'
import { Front } from './http/front.ts'
import { listen } from './http/listen.ts'
import { Oracle } from './oracle/oracle.ts'
import type { Simulation } from './simulation.ts'
import { LoginAttempts } from './token/login-attempts.ts'
import { inventToken, Tokens } from './token/tokens.ts'
import type { PersonPlan } from './world/model.ts'
import { World } from './world/world.ts'

export interface SimOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number | undefined
  readonly adminPort?: number | undefined
  readonly seed?: number | undefined
  readonly people?: readonly PersonPlan[] | undefined
  /** How long a budget lasts; default one hour. */
  readonly windowMs?: number | undefined
  /** REST units a window; default 5,000. */
  readonly limit?: number | undefined
  /** GraphQL points a window; default 5,000. */
  readonly graphqlLimit?: number | undefined
  /** What the clock shows at the start; default the real time. */
  readonly start?: Date | undefined
  readonly latencyMs?: number | undefined
  /** From this many issues on, pages can only be reached by cursor; default 10,000. */
  readonly deepPageMax?: number | undefined
  /** By how much the announced end of a window wavers from call to call, as GitHub's does; default 0. */
  readonly resetJitterSeconds?: number | undefined
  /** Commits with line counts that one GraphQL query may ask for: more are refused, twice as many time out. Default: any. */
  readonly heavyNodesMax?: number | undefined
  /** At once: default 100. Points: GitHub has 900 a minute; the default is no limit, because benches run faster than time. */
  readonly secondary?: { readonly concurrent?: number | undefined; readonly pointsPerMinute?: number | undefined } | undefined
  /** Refusals within five minutes after which an account is locked; default 50. */
  readonly loginAttempts?: number | undefined
}

export interface GithubSim extends Simulation {
  readonly url: string
  readonly graphqlUrl: string
  readonly adminUrl: string
  readonly churn: Churn
  /** The token that was issued last for a login. */
  tokenOf(login: string): string
  stop(): Promise<void>
}

const onePerson: readonly PersonPlan[] = [
  { login: 'octo-person', repositories: 5, commits: 200, issues: 40, pullRequests: 20, ownPullRequestsElsewhere: 5 },
]

export async function startGithubSim(options: SimOptions = {}): Promise<GithubSim> {
  const { seed = 1, people = onePerson, windowMs = 3_600_000, limit = 5000, graphqlLimit = 5000 } = options
  const clock = new SimClock(options.start)
  const world = new World({ seed, people, start: clock.now() })
  const tokens = new Tokens()
  for (const { login, token } of people) {
    const account = world.byLogin(login)
    if (account) tokens.issue(account.id, token ?? inventToken(seed, login))
  }
  const loginAttempts = new LoginAttempts(options.loginAttempts ?? 50)
  const simulation: Simulation = {
    world,
    clock,
    tokens,
    loginAttempts,
    budgets: new Budgets({ windowMs, limit, graphqlLimit }),
    secondary: new SecondaryLimits({
      concurrent: options.secondary?.concurrent ?? 100,
      pointsPerMinute: options.secondary?.pointsPerMinute ?? Number.POSITIVE_INFINITY,
    }),
    oracle: new Oracle(),
    chaos: new Chaos(world, tokens, loginAttempts),
    latencyMs: options.latencyMs ?? 0,
    deepPageMax: options.deepPageMax ?? 10_000,
    resetJitterSeconds: options.resetJitterSeconds ?? 0,
    heavyNodesMax: options.heavyNodesMax,
  }
  const churn = new Churn(world, clock)
  const front = new Front(simulation)
  const api = await listen(options.port ?? 0, (incoming) => front.handle(incoming))
  const admin = await startAdmin(simulation, churn, options.adminPort ?? 0)
  return {
    ...simulation,
    url: api.url,
    graphqlUrl: `${api.url}/graphql`,
    adminUrl: admin.url,
    churn,
    tokenOf: (login) => {
      const known = tokens.newestOf(world.byLogin(login)?.id ?? -1)
      if (!known) throw new Error(`No token was issued for ${login}.`)
      return known.token
    },
    stop: async () => {
      await Promise.all([api.stop(), admin.stop()])
    },
  }
}
