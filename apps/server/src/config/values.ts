/**
 * What a field may be. Text from flags and variables becomes a value here; what comes from the file is a value already. Both are checked by
 * the same schema.
 */
import { type Duration, type PoolSize, toMs } from '@sluice/engine'
import { z } from 'zod'
import { type Field, type FieldName, logFormats, logLevels } from './fields.ts'

export interface Values {
  readonly database: string
  readonly redis: string
  readonly data: string
  readonly host: string
  readonly port: number
  readonly healthPort: number
  readonly load: readonly string[]
  readonly pools: Readonly<Record<string, PoolSize>>
  readonly requireKeys: boolean
  readonly masterKey: string
  readonly masterKeyFile: string
  readonly logLevel: (typeof logLevels)[number]
  readonly logFormat: (typeof logFormats)[number]
  readonly keepDays: number
  readonly lease: Duration
  readonly grace: Duration
  readonly githubUrl: string
  readonly githubFloor: number
  readonly collectDaily: boolean
}

const port = z.int().min(0).max(65_535)
const pool = z
  .strictObject({ core: z.int().min(1).max(10_000), max: z.int().min(1).max(10_000) })
  .refine(({ core, max }) => core <= max, { error: 'core is above max', path: ['core'] })

export const schemas: { readonly [Name in FieldName]: z.ZodType<Values[Name]> } = {
  database: z.string().refine(isPostgresUrl),
  redis: z.string().refine(isRedisAddress),
  data: z.string().min(1),
  host: z
    .string()
    .max(255)
    .regex(/^[\w.:%-]+$/),
  port,
  healthPort: port,
  load: z.array(z.string().min(1)),
  pools: z
    .record(z.string().min(1).max(200), pool)
    .refine((pools) => Object.keys(pools).length > 0, 'names no pool; a process without pools is a scheduler'),
  requireKeys: z.boolean(),
  masterKey: z.string().min(1),
  masterKeyFile: z.string().min(1),
  logLevel: z.enum(logLevels),
  logFormat: z.enum(logFormats),
  keepDays: z.int().min(1).max(3_650),
  lease: durationBetween(500, 600_000),
  grace: durationBetween(0, 3_600_000),
  githubUrl: z.string().refine(isWebAddress),
  githubFloor: z.int().min(0).max(4_999),
  collectDaily: z.boolean(),
}

/** What cannot be read stays as it is, and the schema refuses it. */
export function fromText(field: Field, text: string): unknown {
  switch (field.text) {
    case 'plain':
      return text
    case 'number':
      return /^\d+$/.test(text) ? Number(text) : text
    case 'boolean':
      return readBoolean(text.toLowerCase()) ?? text
    case 'list':
      return text.split(',').map((part) => part.trim())
    case 'pools':
      return readPools(text) ?? text
  }
}

function readBoolean(text: string): boolean | undefined {
  if (['true', '1', 'yes', 'on'].includes(text)) return true
  return ['false', '0', 'no', 'off'].includes(text) ? false : undefined
}

/** `light=5-10,heavy=3`: core and max, or one number for both. */
function readPools(text: string): Record<string, PoolSize> | undefined {
  const pools: Record<string, PoolSize> = {}
  for (const part of text.split(',')) {
    const match = /^\s*([^=\s]+)\s*=\s*(\d+)(?:-(\d+))?\s*$/.exec(part)
    if (!match?.[1] || match[1] in pools) return undefined
    pools[match[1]] = { core: Number(match[2]), max: Number(match[3] ?? match[2]) }
  }
  return pools
}

function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:', 'socket:'].includes(new URL(text).protocol)
}

/** Tokens are sent there, so a name and a password have no business in it. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return ['https:', 'http:'].includes(protocol) && username + password + search + hash === ''
}

function isRedisAddress(text: string): boolean {
  const [first = ''] = text.split(',')
  return URL.canParse(first) && ['redis:', 'rediss:', 'unix:'].includes(new URL(first).protocol)
}

function durationBetween(leastMs: number, mostMs: number): z.ZodType<Duration> {
  return z.custom<Duration>((value) => {
    if (typeof value !== 'number' && typeof value !== 'string') return false
    try {
      const ms = toMs(value as Duration)
      return ms >= leastMs && ms <= mostMs
    } catch {
      return false
    }
  }, '')
}
