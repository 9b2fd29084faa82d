/**
 * Schedules: cron expressions in a time zone that enqueue jobs.
 */
import { z } from 'zod'
import { byName, countInUrl, done, duration, id, nothing, resumed, text, withReason } from '../fields.ts'
import { notFound } from '../problem.ts'
import { type AddRoute, answer } from '../route.ts'
import type { Ground } from './ground.ts'
import { enqueued, jobOptions, jobRequest, storedError } from './job-schemas.ts'

const overlap = z.enum(['allow', 'forbid', 'replace'])
const catchUp = z.enum(['none', 'latest', 'all'])

const schedule = z
  .object({
    name: z.string(),
    kind: z.string(),
    payload: z.unknown(),
    options: z.record(z.string(), z.unknown()).describe('Of its jobs, as the database stores them.'),
    cron: z.string(),
    zone: z.string(),
    overlap,
    catchUp,
    deadlineMs: z.int().nullable(),
    jitterMs: z.int(),
    pausedAt: z.date().nullable(),
    pausedReason: z.string().nullable(),
    nextAt: z.date().nullable(),
    lastAt: z.date().nullable(),
    lastJob: id.nullable(),
    fired: z.int(),
    skipped: z.int().describe('Fires that got no job: missed, or kept back by `overlap`.'),
    error: storedError.nullable(),
  })
  .meta({ id: 'Schedule' })

const shown = schedule
  .extend({ nextFires: z.array(z.date()).describe('As the expression says them, without jitter. None while it is paused.') })
  .meta({ id: 'ShownSchedule' })

const definition = z
  .strictObject({
    cron: text(500).describe(
      'Minute, hour, day, month, weekday; six fields begin with seconds. @hourly, @daily, @weekly, @monthly, @yearly.',
    ),
    zone: text(100).exactOptional().describe('IANA name; UTC when left out.'),
    job: jobRequest.extend({ options: jobOptions.omit({ runAt: true, delay: true }).exactOptional() }),
    overlap: overlap
      .exactOptional()
      .describe('While the last job is still live: allow another, forbid it, or replace the live one.'),
    catchUp: catchUp.exactOptional().describe('Fires that were missed: none of them, the latest, or all.'),
    deadline: duration.exactOptional().describe('How late a fire may still start.'),
    jitter: duration.exactOptional().describe('Each job starts up to this much later.'),
  })
  .meta({ id: 'ScheduleDefinition' })

export function addScheduleRoutes(add: AddRoute, { engine }: Ground): void {
  const tag = 'schedules'
  add({
    method: 'GET',
    url: '/api/schedules',
    action: 'schedules.read',
    tag,
    summary: 'List schedules by name',
    answers: { 200: z.object({ items: z.array(schedule) }) },
    handle: async () => answer(200, { items: await engine.schedules.list() }),
  })
  add({
    method: 'GET',
    url: '/api/schedules/:name',
    action: 'schedules.read',
    tag,
    summary: 'Show a schedule and when it fires next',
    params: byName,
    query: z.strictObject({ fires: countInUrl(0, 100).exactOptional().describe('How many; 5 when left out.') }),
    answers: { 200: shown },
    refuses: [404],
    handle: async ({ params, query }) => answer(200, await engine.schedules.show(params.name, query)),
  })
  add({
    method: 'PUT',
    url: '/api/schedules/:name',
    action: 'schedules.set',
    tag,
    summary: 'Store a schedule, or change it',
    description: 'One that says the same as before changes nothing, its next fire included.',
    params: byName,
    body: definition,
    answers: { 200: shown },
    handle: async ({ params, body }) => {
      const { payload = {}, ...job } = body.job
      await engine.schedules.set(params.name, { ...body, job: { ...job, payload } })
      return answer(200, await engine.schedules.show(params.name))
    },
  })
  add({
    method: 'DELETE',
    url: '/api/schedules/:name',
    action: 'schedules.remove',
    tag,
    summary: 'Remove a schedule; jobs that it made stay',
    params: byName,
    answers: { 200: done },
    refuses: [404],
    handle: async ({ params }) => {
      if (!(await engine.schedules.remove(params.name))) throw notFound(`schedule "${params.name}"`)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/schedules/:name/pause',
    action: 'schedules.pause',
    tag,
    summary: 'Pause a schedule',
    params: byName,
    body: withReason,
    answers: { 200: done },
    refuses: [404],
    handle: async ({ params, body }) => {
      await engine.schedules.pause(params.name, body?.reason)
      return answer(200, { done: true })
    },
  })
  add({
    method: 'POST',
    url: '/api/schedules/:name/resume',
    action: 'schedules.resume',
    tag,
    summary: 'Resume a schedule with its next fire from now',
    params: byName,
    body: nothing,
    answers: { 200: resumed },
    refuses: [404],
    handle: async ({ params }) => answer(200, { resumed: await engine.schedules.resume(params.name) }),
  })
  add({
    method: 'POST',
    url: '/api/schedules/:name/run',
    action: 'schedules.run',
    tag,
    summary: 'Enqueue the job of a schedule now, paused or not',
    description: 'Where `overlap` forbids it, `id` is the job that is still live and `created` is false.',
    params: byName,
    body: nothing,
    answers: { 200: enqueued },
    refuses: [404],
    handle: async ({ params }) => answer(200, await engine.schedules.runNow(params.name)),
  })
}
