/**
 * Where GraphQL is mounted. Until its schema is here, it answers as a server that is not ready.
 */
import type { Simulation } from '../simulation.ts'

export interface GraphqlRequest {
  readonly accountId: number
  readonly body: unknown
  readonly now: number
}

export interface GraphqlAnswer {
  readonly status: number
  readonly body: unknown
  readonly points: number
}

export async function handleGraphql(_sim: Simulation, _request: GraphqlRequest): Promise<GraphqlAnswer> {
  return { status: 503, body: { message: 'GraphQL is not simulated yet.' }, points: 0 }
}
