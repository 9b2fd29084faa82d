/**
 * All routes, one file a noun.
 */
import type { AddRoute } from '../route.ts'
import { addAccessRoutes } from './access.ts'
import { addCollectionRoutes } from './collections.ts'
import { addExportRoute } from './export.ts'
import type { Ground } from './ground.ts'
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
import { addShadowRoutes } from './shadows.ts'
import { addStatisticsRoutes } from './statistics.ts'
import { addStrategyRoutes } from './strategy.ts'
import { addUserRoutes } from './users.ts'
import { addWorkerRoutes } from './workers.ts'

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
  addUserRoutes(add, ground)
  addCollectionRoutes(add, ground)
  addShadowRoutes(add, ground)
  addStrategyRoutes(add, ground)
  addStatisticsRoutes(add, ground)
  addExportRoute(add, ground)
  addOverviewRoutes(add, ground)
  addLiveRoute(add, ground)
  addAccessRoutes(add, ground)
}
