/** One page of discovery, by either strategy, as the same value. */
import type { JobContext, JobRequest, Outcome } from '@sluice/engine'
import { countCost, halve, stepOn } from '@sluice/github'
import { z } from 'zod'
import { ask } from './ask.ts'
import { type DiscoveryPage, discoveryAnswer, discoveryQuery, readDiscovery } from './graphql/discovery.ts'
import { wholePage } from './list-item.ts'
import type { RepositoriesPayload } from './repositories-payload.ts'
import { restDiscovered, restRepository } from './rest/discovery.ts'
import type { Workshop } from './workshop.ts'

export type Discovery =
  | { readonly type: 'page'; readonly page: DiscoveryPage }
  | { readonly type: 'over'; readonly outcome: Outcome }
/** node, repositories, nodes, its place */
const holeDepth = 4

type Again = (more: Partial<RepositoriesPayload>) => JobRequest

export function discover(job: JobContext<RepositoriesPayload>, workshop: Workshop, again: Again): Promise<Discovery> {
  return (job.payload.strategy === 'rest' ? byRest : byGraphql)(job, workshop, again)
}

async function byGraphql(job: JobContext<RepositoriesPayload>, workshop: Workshop, again: Again): Promise<Discovery> {
  const { user, first, after = null, by } = job.payload
  const variables = { user, first, after, by, of: workshop.settings.affiliations }
  const less = () => {
    const fewer = halve(first)
    return fewer === undefined ? undefined : [again({ first: fewer })]
  }
  const { points } = countCost(discoveryQuery, variables)
  const asked = await ask(job, workshop, { text: discoveryQuery, variables, points }, { schema: discoveryAnswer, less })
  if (asked.type !== 'ok') return over(asked)
  // A repository that this token may not see leaves a hole in the list. A hole within one would look like a repository without commits.
  const torn = asked.errors.find(({ path }) => path?.length !== holeDepth)
  if (torn) throw new Error(`GitHub answered in part only: ${torn.message}`)
  const page = readDiscovery(asked.data)
  if (!page) throw new Error('GitHub does not show the user')
  return { type: 'page', page }
}

async function byRest(job: JobContext<RepositoriesPayload>, workshop: Workshop, again: Again): Promise<Discovery> {
  const { by, after, trail } = job.payload
  const sort = by === 'PUSHED_AT' ? 'pushed' : 'updated'
  const affiliation = workshop.settings.affiliations.map((one) => one.toLowerCase()).join(',')
  const call = after
    ? { path: after }
    : { path: '/user/repos', query: { affiliation, sort, direction: 'desc', per_page: wholePage } }
  const asked = await ask(job, workshop, call, { schema: z.array(restRepository), moved: (to) => again({ after: to }) })
  if (asked.type !== 'ok') return over(asked)
  if (asked.next !== undefined && stepOn(trail, asked.next) === 'loop') throw new Error('the links of this list lead in a circle')
  return { type: 'page', page: { found: asked.data.map(restDiscovered), ownPulls: undefined, next: asked.next } }
}

function over(asked: { type: 'over'; outcome: Outcome } | { type: 'not modified' }): Discovery {
  return { type: 'over', outcome: asked.type === 'over' ? asked.outcome : { type: 'done' } }
}
