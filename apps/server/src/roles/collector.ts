/**
 * The collector as every process of the server has it: a worker runs its kinds, a scheduler fires its schedule, the API and the commands hold its facade. So
 * whichever role publishes a request, the others know what to do.
 */
import { type CollectorParts, collectorParts } from '@sluice/collector'
import type { Config } from '../config/read-config.ts'

/** As it is stored. */
export const dailySchedule = 'collector.daily'

export function partsOfCollector({ githubUrl, githubFloor, collectDaily, keepDays }: Config): CollectorParts {
  return collectorParts({
    github: { baseUrl: githubUrl },
    floor: githubFloor,
    keepDays,
    ...(collectDaily ? {} : { daily: false }),
  })
}
