/**
 * The log of a process: pino, one JSON object a line, or lines for people on a terminal.
 *
 * Both forms go through the scrubber on their way out, as the last step, so nothing that formats can bring a secret back. It is written
 * synchronously and in this thread: what was logged before a crash is there after it.
 */
import type { Log } from '@sluice/engine'
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Scrubber } from './scrubber.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LogOptions {
  readonly level: LogLevel
  readonly pretty: boolean
  readonly colors: boolean
  readonly destination: DestinationStream
  readonly scrubber: Scrubber
}

/** Fields whose value is a secret whatever it is, at the top and one level down. */
const secretFields = ['password', 'secret', 'token', 'authorization', 'cookie', 'masterKey', 'apiKey', 'privateKey']
const redacted = [
  ...secretFields.flatMap((field) => [field, `*.${field}`]),
  'headers["set-cookie"]',
  'req.headers.authorization',
  'req.headers.cookie',
  'res.headers["set-cookie"]',
]

export function makeLog({ level, pretty, colors, destination, scrubber }: LogOptions): Logger {
  const out: DestinationStream = { write: (text) => destination.write(scrubber.scrub(text)) }
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redacted, censor: '[redacted]' },
    },
    pretty ? forPeople(out, colors) : out,
  )
}

function forPeople(out: DestinationStream, colors: boolean): DestinationStream {
  const pretty = prettyFactory({
    colorize: colors,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  })
  return { write: (line) => out.write(pretty(line)) }
}

/** What the engine needs of it. A line for every job is written only where it would be seen. */
export function engineLogOn(log: Logger): Log {
  return {
    debug: (event, fields) => log.debug(fields ?? {}, event),
    info: (event, fields) => log.info(fields ?? {}, event),
    warn: (event, fields) => log.warn(fields ?? {}, event),
    error: (event, fields) => log.error(fields ?? {}, event),
    jobs: log.isLevelEnabled('info'),
  }
}
