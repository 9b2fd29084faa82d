/**
 * What reading an account from the beginning costs by each strategy, told from what is stored of it: pages of a hundred, and by REST one call for each commit. It is
 * an estimate: what happened on GitHub since, and calls that have to be made again, come on top.
 */
import type { Strategy } from '../collection/collection.ts'
import type { Resource } from '../spent/spent.ts'
import { type Batching, commitBatching, inBatches, issueBatching, pullBatching } from '../walk/batches.ts'
import { wholePage } from '../walk/list-item.ts'

/** How much is stored of an account. */
export interface Stored {
  readonly repositories: readonly StoredRepository[]
  /** The user's own pull requests, wherever they are. */
  readonly ownPullRequests: number
}

export interface StoredRepository {
  readonly commits: number
  readonly issues: number
  readonly pullRequests: number
}

export interface ExpectedCost {
  readonly strategy: Strategy
  readonly units: Readonly<Record<Resource, number>>
}

/** Profile and events, whatever the strategy. */
const asideCalls = 2
/** Discovery reads the list in two orders. */
const orders = 2
const discoveryPage: Readonly<Record<Strategy, number>> = { graphql: 50, rest: wholePage }

const pagesOf = (rows: number, page: number = wholePage): number => Math.max(1, Math.ceil(rows / page))
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

export function estimateCost(strategy: Strategy, { repositories, ownPullRequests }: Stored): ExpectedCost {
  const discovery = orders * pagesOf(repositories.length, discoveryPage[strategy])
  const own = pagesOf(ownPullRequests)
  return strategy === 'rest'
    ? { strategy, units: { core: asideCalls + discovery + sum(repositories.map(restCalls)), graphql: own } }
    : { strategy, units: { core: asideCalls, graphql: discovery + own + graphqlPoints(repositories) } }
}

/** Lists are read even if they are empty, and that of the issues has the pull requests among them. */
function restCalls({ commits, issues, pullRequests }: StoredRepository): number {
  return commits + pagesOf(commits) + pagesOf(issues + pullRequests) + pagesOf(pullRequests)
}

function graphqlPoints(repositories: readonly StoredRepository[]): number {
  return (
    pointsOf(
      repositories.map(({ commits }) => commits),
      commitBatching,
    ) +
    pointsOf(
      repositories.map(({ issues }) => issues),
      issueBatching,
    ) +
    pointsOf(
      repositories.map(({ pullRequests }) => pullRequests),
      pullBatching,
    )
  )
}

/** First pages share calls, those that follow go alone; discovery knows which lists are empty. */
function pointsOf(rows: readonly number[], batching: Batching): number {
  const lists = rows.filter((count) => count > 0)
  const first = inBatches(
    lists.map((count) => ({ first: Math.min(wholePage, count) })),
    batching,
  )
  return first.length + sum(lists.map((count) => pagesOf(count) - 1))
}
