/**
 * A world and a voice to ask it over GraphQL, without HTTP: for the tests of this folder.
 */
import type { PersonPlan } from '../world/model.ts'
import { World } from '../world/world.ts'
import { handleGraphql } from './handle.ts'
import type { BudgetReading, ChaosFor, Estimate } from './host.ts'

export interface Reply {
  readonly status: number
  readonly points: number
  readonly operation: string | undefined
  readonly data: Tree
  readonly errors: readonly Tree[] | undefined
  readonly message: string | undefined
}

/** JSON that a test reads without declaring its form. */
export type Tree = any

export interface Stage {
  readonly world: World
  readonly now: number
  budget: BudgetReading
  /** What chaos was asked, newest last. */
  readonly estimates: Estimate[]
  chaosFor: ChaosFor
  heavyNodesMax: number | undefined
  mayRead: boolean
  ask(query: string, variables?: Readonly<Record<string, unknown>>, login?: string): Promise<Reply>
  send(body: unknown, login?: string): Promise<Reply>
}

export const ada: PersonPlan = {
  login: 'ada',
  repositories: 12,
  commits: 700,
  issues: 260,
  pullRequests: 130,
  ownPullRequestsElsewhere: 23,
}

export function createStage(people: readonly PersonPlan[] = [ada, { ...ada, login: 'bob' }]): Stage {
  const now = Date.UTC(2026, 0, 1)
  const world = new World({ seed: 1, people, start: now })
  const budget = { limit: 5000, remaining: 4321, used: 679, resetAt: now + 1_800_000 }
  const stage: Stage = {
    world,
    now,
    budget,
    estimates: [],
    chaosFor: () => undefined,
    heavyNodesMax: undefined,
    mayRead: true,
    ask: (query, variables = {}, login = 'ada') => stage.send({ query, variables }, login),
    async send(body, login = 'ada') {
      const accountId = world.byLogin(login)?.id ?? 0
      const host = { world, budgets: { state: () => stage.budget }, heavyNodesMax: stage.heavyNodesMax }
      const chaosFor: ChaosFor = (operation, estimate) => {
        stage.estimates.push(estimate)
        return stage.chaosFor(operation, estimate)
      }
      const { body: sent, ...answer } = await handleGraphql(host, { accountId, body, now, chaosFor, mayRead: stage.mayRead })
      const { data, errors, message } = JSON.parse(JSON.stringify(sent)) as Reply
      return { ...answer, data, errors, message }
    },
  }
  return stage
}
