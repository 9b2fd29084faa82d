/**
 * Telemetry: the log and the metrics of a process, and what feeds them.
 *
 * Give `engineLog` and `observer` to the engine; ask `metrics` when somebody scrapes. The registry is our own, so two systems in a process do
 * not share their numbers. Spans come from the engine by itself as soon as an OpenTelemetry SDK is registered (docs/tracing-and-logs.md).
 */
import type { Engine, Log, Observer } from '@sluice/engine'
import { type DestinationStream, destination as fileDestination, type Logger } from 'pino'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { Counters } from './counters.ts'
import { Gauges } from './gauges.ts'
import { engineLogOn, type LogLevel, makeLog } from './log.ts'
import { Scrubber } from './scrubber.ts'

export interface TelemetryOptions {
  /** Default `info`. */
  readonly level?: LogLevel
  /** Lines for people instead of JSON. Default: if standard error is a terminal. */
  readonly pretty?: boolean
  /** Where lines go. Default: standard error. */
  readonly destination?: DestinationStream
  /** Shown in `sluice_build_info`. */
  readonly version?: string
}

export interface Telemetry {
  readonly log: Logger
  readonly engineLog: Log
  readonly observer: Observer
  metrics(engine: Engine): Promise<{ contentType: string; text: string }>
  /** From now on this value is taken out of every line and every answer to a scrape, in whatever form. */
  hide(value: string): boolean
  /** What the lines go through; for other text that leaves the process. */
  scrub(text: string): string
}

export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const terminal = process.stderr.isTTY && options.destination === undefined
  const scrubber = new Scrubber()
  const log = makeLog({
    level: options.level ?? 'info',
    pretty: options.pretty ?? terminal,
    colors: terminal && !process.env['NO_COLOR'],
    destination: options.destination ?? fileDestination({ dest: 2, sync: true }),
    scrubber,
  })
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const build = new Gauge({
    name: 'sluice_build_info',
    help: 'Always 1; its labels say what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  })
  build.set({ version: options.version ?? 'unknown', node: process.versions.node }, 1)
  const counters = new Counters(registry)
  const gauges = new Gauges(registry, counters.kinds)
  return {
    log,
    engineLog: engineLogOn(log),
    observer: counters.observe,
    async metrics(engine) {
      await gauges.refresh(engine)
      return { contentType: registry.contentType, text: scrubber.scrub(await registry.metrics()) }
    },
    hide: (value) => scrubber.hide(value),
    scrub: (text) => scrubber.scrub(text),
  }
}
