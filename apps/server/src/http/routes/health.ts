/**
 * For probes and scrapers. `/livez` and `/readyz` answer anybody, because probes carry no keys; what is not ready is told only to those who may read.
 */
import { z } from 'zod'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'

const readiness = z
  .object({
    ready: z.boolean(),
    problems: z.array(z.string()).optional().describe('What is not ready, in words; only for callers who may read.'),
  })
  .meta({ id: 'Readiness' })

export function addHealthRoutes(add: AddRoute, { engine, telemetry, guard }: Ground): void {
  add({
    method: 'GET',
    url: '/livez',
    action: 'anyone',
    tag: 'health',
    summary: 'Whether this process answers',
    answers: { 200: z.object({ alive: z.literal(true) }) },
    offline: true,
    handle: async () => answer(200, { alive: true }),
  })
  add({
    method: 'GET',
    url: '/readyz',
    action: 'anyone',
    tag: 'health',
    summary: 'Whether this process can do its work, and if not, why',
    answers: { 200: readiness, 503: readiness },
    offline: true,
    handle: async ({ request }) => {
      const { ready, problems } = engine.status()
      const told = (await guard.mayRead(request)) ? { problems: [...problems] } : {}
      return ready ? answer(200, { ready, ...told }) : answer(503, { ready, ...told }, { 'retry-after': '2' })
    },
  })
  add({
    method: 'GET',
    url: '/metrics',
    action: 'metrics.read',
    tag: 'health',
    summary: 'Metrics in the text format of Prometheus',
    answers: { 200: z.string() },
    handle: async () => {
      const { contentType, text } = await telemetry.metrics(engine)
      return answer(200, text, { 'content-type': contentType })
    },
  })
}
