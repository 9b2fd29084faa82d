/**
 * Options of an engine, checked at the door: every limit has its unit in its name, zero and infinity are refused.
 */
import { hostname } from 'node:os'
import { z } from 'zod'
import type { AnyEvent } from './event/event.ts'
import type { AnyKind } from './job/kind.ts'
import { encodeClass, type LaneLimits } from './lane/limits.ts'
import type { MigrationSet } from './postgres/migrate.ts'
import type { RunKind } from './run/run-kind.ts'
import type { Schedule } from './schedule/schedule.ts'
import { KeyRing } from './secret/key-ring.ts'
import { type Clock, systemClock } from './support/clock.ts'
import { type Duration, toMs } from './support/duration.ts'
import { type Scrub, SluiceError } from './support/errors.ts'
import type { Observer } from './support/fact.ts'
import { noProbe, type Probe } from './support/fail-point.ts'
import { checkFields } from './support/issue.ts'
import { type Log, standardErrorLog } from './support/log.ts'
import { nameField } from './support/text.ts'

export interface PoolSize {
  /** Jobs that run at once … */
  readonly core: number
  /** … and while a backlog stands. */
  readonly max: number
}

export interface EngineOptions {
  /** postgresql://user:password@host:5432/database */
  readonly database: string
  /** redis://host:6379, or several addresses of a cluster with commas between them: Redis dispatches. Without it PostgreSQL does. docs/redis.md */
  readonly redis?: string | { readonly url: string /** Default `sluice`. */; readonly prefix?: string } | undefined
  readonly kinds?: readonly AnyKind[]
  readonly runs?: readonly RunKind[]
  /** Limits of lanes by pattern, in which `*` stands for anything; the longest one that fits counts. Stored for all processes. */
  readonly lanes?: Readonly<Record<string, LaneLimits>>
  /** Stored when the engine migrates; one that is stored already and says the same keeps its next fire. Made with defineSchedule. */
  readonly schedules?: readonly Schedule[]
  /** Events that this process publishes; those that its kinds subscribe to need not be named. Made with defineEvent. */
  readonly events?: readonly AnyEvent[]
  /** Schemas of packages that stand on the engine; brought up to date together with its own. */
  readonly migrations?: readonly MigrationSet[]
  /** Whether the schema is brought up to date before the first use. Default true. If not, one that lacks something is refused. */
  readonly migrates?: boolean
  /** How this process is called where processes are listed. Default host and process id. */
  readonly name?: string
  /** Master keys, for `engine.secrets`. Made with KeyRing.fromEnvOrFile. */
  readonly secrets?: KeyRing | undefined
  /** Handed to every handler as its second argument. */
  readonly services?: unknown
  /** Pools this process serves. An empty object serves none (a scheduler). Default: light 5–10, heavy 3–5. */
  readonly pools?: Readonly<Record<string, PoolSize>>
  /** Whether this process may lead: promote, rescue, prune. Default true. */
  readonly lead?: boolean
  /** After how long without a heartbeat a process counts as dead. Default 10 s. */
  readonly lease?: Duration
  /** How long `stop` lets running jobs end. Default 30 s. */
  readonly grace?: Duration
  /** How long finished jobs are kept. Default 30 days. */
  readonly keepDays?: number
  /** How many processes may die of a job before it is failed as poison. Default 3. */
  readonly crashesMax?: number
  /** By how much a step of priority outweighs age. Stored for all processes. Default one minute. */
  readonly priorityStep?: Duration
  /** Stored for all processes. Default 256 KB. */
  readonly payloadBytesMax?: number
  /** Connections for what users and handlers write. Default 10. */
  readonly poolMax?: number
  /** How long a statement may take that only reads for people: find, why, lists. Default 5 s. */
  readonly lookTime?: Duration
  /** Turn off behind a pooler that does not keep prepared statements. Found out by itself when left out. */
  readonly prepare?: boolean
  readonly log?: Log
  /** Hears of everything that happens here, at once and in passing: for counters and charts. Must be quick. */
  readonly observe?: Observer
  /** Takes secrets out of what handlers throw and log, before it is stored or told. */
  readonly scrub?: Scrub
  readonly clock?: Clock
  readonly random?: () => number
  /** Called at named places; tests let the process die there. */
  readonly probe?: Probe
}

export interface StopOptions {
  /** How long running jobs may still go on, if that is shorter than the engine's. Also while it stops: a second signal need not wait, and its jobs need no rescue. */
  readonly grace?: Duration
}

export interface Settled {
  readonly database: string
  readonly redis: { readonly url: string; readonly prefix: string } | undefined
  readonly kinds: ReadonlyMap<string, AnyKind>
  readonly laneClasses: readonly object[]
  readonly schedules: readonly Schedule[]
  readonly events: readonly AnyEvent[]
  readonly migrations: readonly MigrationSet[]
  readonly migrates: boolean
  readonly name: string
  readonly secrets: KeyRing | undefined
  readonly services: unknown
  readonly pools: Readonly<Record<string, PoolSize>>
  readonly lead: boolean
  readonly leaseMs: number
  readonly graceMs: number
  readonly keepDays: number
  readonly crashesMax: number
  readonly priorityStepMs: number | undefined
  readonly payloadBytesMax: number | undefined
  readonly poolMax: number
  readonly lookMsMax: number
  readonly prepare: boolean
  readonly log: Log
  readonly observe: Observer | undefined
  readonly scrub: Scrub | undefined
  readonly clock: Clock
  readonly random: () => number
  readonly probe: Probe
}

/** Functions of these names. What is missing would be noticed when it is called, in the middle of something else. */
function has(given: unknown, ...names: string[]): boolean {
  return typeof given === 'object' && given !== null && names.every((name) => typeof Reflect.get(given, name) === 'function')
}

const poolSchema = z
  .strictObject({ core: z.int().min(1).max(10_000), max: z.int().min(1).max(10_000) })
  .refine(({ core, max }) => core <= max, { message: 'core is above max', path: ['core'] })

const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/[^\s,]+(,[^\s,]+)*|unix:\/\/\/\S+)$/,
    'write redis://host:6379, or several addresses with commas between them for a cluster',
  )

const schema = z.strictObject({
  redis: z
    .union([
      redisUrl,
      z.strictObject({
        url: redisUrl,
        prefix: z
          .string()
          .regex(/^[^{}\s]{1,100}$/)
          .optional(),
      }),
    ])
    .optional(),
  database: z.string({ error: 'give the address of the database, e.g. postgresql://localhost/app' }).min(1),
  kinds: z
    .array(
      z.custom<AnyKind>((kind) => typeof kind === 'function' && 'parse' in kind, {
        error: ({ input }) =>
          typeof input === 'function' && 'kindName' in input
            ? 'is a run and no kind; give it in `runs`'
            : 'is no kind; make it with defineKind',
      }),
    )
    .optional(),
  schedules: z
    .array(
      z.custom<Schedule>(
        (one) => typeof one === 'object' && one !== null && 'jitterMs' in one,
        'is no schedule; make it with defineSchedule',
      ),
    )
    .optional(),
  events: z
    .array(
      z.custom<AnyEvent>((event) => typeof event === 'function' && 'eventName' in event, 'is no event; make it with defineEvent'),
    )
    .optional(),
  secrets: z.custom<KeyRing>((ring) => ring instanceof KeyRing, 'is no key ring; make it with KeyRing.fromEnvOrFile').optional(),
  pools: z.record(nameField, poolSchema).optional(),
  keepDays: z.int().min(1).max(3_650).optional(),
  crashesMax: z.int().min(3, 'must be 3 or more: two deaths make a suspect, the third one alone convicts').max(100).optional(),
  payloadBytesMax: z.int().min(1_000).max(100_000_000).optional(),
  poolMax: z.int().min(2).max(1_000).optional(),
  lead: z.boolean().optional(),
  migrates: z.boolean().optional(),
  name: nameField.optional(),
  observe: z
    .custom<Observer>((observe) => typeof observe === 'function', 'is no function; it is called with each fact')
    .optional(),
  scrub: z.custom<Scrub>((scrub) => typeof scrub === 'function', 'is no function; it is called with text').optional(),
  prepare: z.boolean().optional(),
  log: z
    .custom<Log>(
      (log) => has(log, 'info', 'warn', 'error'),
      'takes an object with info, warn and error, each called with an event and its fields',
    )
    .optional(),
  clock: z.custom<Clock>((clock) => has(clock, 'now', 'monotonic', 'after'), 'is no clock; leave it out').optional(),
  // Durations are checked where they are read, the rest by its type.
  ...Object.fromEntries(
    ['runs', 'lanes', 'migrations', 'lease', 'grace', 'priorityStep', 'lookTime', 'services', 'random', 'probe'].map((field) => [
      field,
      z.unknown().optional(),
    ]),
  ),
})

export function settleOptions(options: EngineOptions): Settled {
  checkFields(schema, options)
  const kinds = new Map<string, AnyKind>()
  for (const kind of [...(options.kinds ?? []), ...(options.runs ?? []).flatMap((run) => run.kinds)]) {
    if (kinds.has(kind.kindName)) throw new SluiceError('DUPLICATE_KIND', { kind: kind.kindName })
    kinds.set(kind.kindName, kind)
  }
  const names = new Set<string>()
  for (const { name } of options.schedules ?? []) {
    if (names.has(name))
      throw new SluiceError('INVALID_OPTION', {
        field: 'schedules',
        problem: `two are named "${name}"; give one of them another name`,
      })
    names.add(name)
  }
  const leaseMs = toMs(options.lease ?? '10s', 'lease')
  if (leaseMs < 500) throw new SluiceError('INVALID_OPTION', { field: 'lease', problem: 'a lease below 500 ms cannot be kept' })
  return {
    database: options.database,
    redis: redisOf(options.redis),
    kinds,
    laneClasses: [...limitsOf(options.lanes), ...breakersOf(kinds)],
    schedules: options.schedules ?? [],
    events: options.events ?? [],
    migrations: options.migrations ?? [],
    migrates: options.migrates ?? true,
    name: options.name ?? `${hostname()}:${process.pid}`,
    secrets: options.secrets,
    services: options.services ?? {},
    pools: options.pools ?? { light: { core: 5, max: 10 }, heavy: { core: 3, max: 5 } },
    lead: options.lead ?? true,
    leaseMs,
    graceMs: toMs(options.grace ?? '30s', 'grace'),
    keepDays: options.keepDays ?? 30,
    crashesMax: options.crashesMax ?? 3,
    priorityStepMs: options.priorityStep === undefined ? undefined : Math.max(1, toMs(options.priorityStep, 'priorityStep')),
    payloadBytesMax: options.payloadBytesMax,
    poolMax: options.poolMax ?? 10,
    lookMsMax: Math.max(1, Math.ceil(toMs(options.lookTime ?? '5s', 'lookTime'))),
    prepare: options.prepare ?? true,
    log: options.log ?? standardErrorLog,
    observe: options.observe,
    scrub: options.scrub,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    probe: options.probe ?? noProbe,
  }
}

function redisOf(redis: EngineOptions['redis']): Settled['redis'] {
  if (redis === undefined) return undefined
  const { url, prefix = 'sluice' } = typeof redis === 'string' ? { url: redis } : redis
  return { url, prefix }
}

function limitsOf(lanes: EngineOptions['lanes'] = {}): object[] {
  return Object.entries(lanes).map(([pattern, limits]) => encodeClass(pattern, limits))
}

/** A kind with a breaker has a lane of its own, where its failures are counted. */
function breakersOf(kinds: ReadonlyMap<string, AnyKind>): object[] {
  return [...kinds.values()].flatMap(({ breaker, lane = '' }) =>
    breaker ? [encodeClass(lane, { breaker: { after: breaker.after, cooldown: breaker.cooldownMs } })] : [],
  )
}
