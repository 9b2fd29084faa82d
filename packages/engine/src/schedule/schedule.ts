/**
 * A schedule: a cron expression in a time zone that enqueues a job. Defined here and checked at the door; docs/schedules.md has the rules.
 */
import { z } from 'zod'
import type { JobRequest } from '../job/request.ts'
import { type Duration, durationField, toMs } from '../support/duration.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { parseCron } from './cron.ts'
import type { CatchUp, Overlap } from './plan.ts'

export interface ScheduleDefinition {
  /** Minute, hour, day, month, weekday; six fields begin with seconds. `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  readonly cron: string
  /** IANA name. Default UTC. */
  readonly zone?: string
  /** What to enqueue, as for `enqueue`: `report({ day: 'yesterday' }, { priority: 5 })`. */
  readonly job: JobRequest
  /** While the last job is still live: `allow` another (the default), `forbid` it, or `replace` the live one. */
  readonly overlap?: Overlap
  /** Fires that were missed: `none` of them, the `latest` (the default), or `all`. */
  readonly catchUp?: CatchUp
  /** How late a fire may still start. Default: for ever, with `none` a minute. */
  readonly deadline?: Duration
  /** Each job starts up to this much later, by an amount that its name and time decide. At most a day. */
  readonly jitter?: Duration
}

export interface Schedule {
  readonly name: string
  readonly cron: string
  readonly zone: string
  readonly job: JobRequest
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly deadlineMs: number | undefined
  readonly jitterMs: number
}

const schema = z.strictObject({
  cron: z.string(),
  zone: z.string().default('UTC'),
  job: z.custom<JobRequest>(
    (job) => typeof job === 'object' && job !== null && 'kind' in job && 'payload' in job,
    'is no request for a job; call a kind: report({ … })',
  ),
  overlap: z.enum(['allow', 'forbid', 'replace']).default('allow'),
  catchUp: z.enum(['none', 'latest', 'all']).default('latest'),
  deadline: durationField.optional(),
  jitter: durationField.optional(),
})
const jitterMsMax = 86_400_000

export function defineSchedule(name: string, definition: ScheduleDefinition): Schedule {
  if (!/^[a-z][\w.:/-]{0,199}$/i.test(name))
    throw new SluiceError('INVALID_OPTION', {
      field: 'schedule',
      problem: `"${name}" is no name: letters, digits, dots, colons, slashes, dashes and underscores, a letter first, at most 200`,
    })
  const { cron, zone, job, overlap, catchUp } = checkFields(schema, definition, name)
  parseCron(cron, zone).next(0)
  const { runAt, delay } = job.options ?? {}
  if (runAt !== undefined || delay !== undefined)
    throw new SluiceError('INVALID_OPTION', {
      field: `${name}.job`,
      problem: 'the schedule says when; leave out runAt and delay',
    })
  const deadlineMs = definition.deadline === undefined ? undefined : Math.ceil(toMs(definition.deadline, `${name}.deadline`))
  if (deadlineMs === 0)
    throw new SluiceError('INVALID_OPTION', { field: `${name}.deadline`, problem: 'no fire is that punctual' })
  const jitterMs = Math.ceil(toMs(definition.jitter ?? 0, `${name}.jitter`))
  if (jitterMs > jitterMsMax) throw new SluiceError('INVALID_OPTION', { field: `${name}.jitter`, problem: 'at most a day' })
  return { name, cron, zone, job, overlap, catchUp, deadlineMs, jitterMs }
}
