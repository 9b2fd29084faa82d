/**
 * All routes, one file a noun.
 */
import type { Engine } from '@sluice/engine'
import type { FastifyBaseLogger } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Guard } from '../guard.ts'
import type { HttpLimits } from '../limits.ts'
import type { LiveConnections } from '../live/connections.ts'
import type { AddRoute } from '../route.ts'
import { addAccessRoutes } from './access.ts'
import { addHealthRoutes } from './health.ts'
import { addJobDeeds } from './job-deeds.ts'
import { addJobRoutes } from './jobs.ts'
import { addLaneRoutes } from './lanes.ts'
import { addLiveRoute } from './live.ts'
import { addOverviewRoutes } from './overview.ts'
import { addOwnerRoutes } from './owners.ts'
import { addPublishedRoutes } from './published.ts'
import { addRunRoutes } from './runs.ts'
import { addScheduleRoutes } from './schedules.ts'
import { addWorkerRoutes } from './workers.ts'

/** Of the telemetry, what the API needs. */
export interface HttpTelemetry {
  readonly log: FastifyBaseLogger
  metrics(engine: Engine): Promise<{ readonly contentType: string; readonly text: string }>
}

/** What routes stand on. */
export interface Ground {
  readonly engine: Engine
  readonly access: Access
  readonly telemetry: HttpTelemetry
  readonly limits: HttpLimits
  readonly live: LiveConnections
  readonly guard: Guard
}

export function addRoutes(add: AddRoute, ground: Ground): void {
  addHealthRoutes(add, ground)
  addJobRoutes(add, ground)
  addJobDeeds(add, ground)
  addRunRoutes(add, ground)
  addLaneRoutes(add, ground)
  addOwnerRoutes(add, ground)
  addWorkerRoutes(add, ground)
  addScheduleRoutes(add, ground)
  addPublishedRoutes(add, ground)
  addOverviewRoutes(add, ground)
  addLiveRoute(add, ground)
  addAccessRoutes(add, ground)
}
