/**
 * What routes stand on.
 */
import type { Collector } from '@sluice/collector'
import type { Engine } from '@sluice/engine'
import type { FastifyBaseLogger } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Guard } from '../guard.ts'
import type { HttpLimits } from '../limits.ts'
import type { LiveConnections } from '../live/connections.ts'

/** Of the telemetry, what the API needs. */
export interface HttpTelemetry {
  readonly log: FastifyBaseLogger
  metrics(engine: Engine): Promise<{ readonly contentType: string; readonly text: string }>
}

export interface Ground {
  readonly engine: Engine
  readonly collector: Collector
  readonly access: Access
  readonly telemetry: HttpTelemetry
  readonly limits: HttpLimits
  readonly live: LiveConnections
  readonly guard: Guard
}
