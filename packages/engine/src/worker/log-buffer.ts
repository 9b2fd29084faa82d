/**
 * Log buffer: lines that handlers log wait here for a moment, so that one statement stores many.
 *
 * A short timer runs while lines wait, so they can be read while the job still runs. An attempt may write so many lines and bytes; what is more is
 * counted, and its last line says how many there were. When the database is away the lines wait for it, up to a limit. Logging never
 * throws and never holds up a handler.
 */

import type { Claim } from '../dispatch/claim.ts'
import { type NewLine, writeLines } from '../job/job-log.ts'
import type { Database } from '../postgres/database.ts'
import { isTransient } from '../postgres/transient.ts'
import { type Clock, pause, type Timer } from '../support/clock.ts'
import type { Scrub } from '../support/errors.ts'
import type { Log } from '../support/log.ts'

export const linesPerAttemptMax = 1_000
export const bytesPerAttemptMax = 262_144
const messageCharsMax = 8_000
const fieldsCharsMax = 16_000
const linesPerStatementMax = 1_000
const waitingLinesMax = 20_000
const flushMs = 100
const retryMs = 1_000
const lastTriesMax = 3

/** What one attempt has written so far. */
export interface Written {
  lines: number
  bytes: number
  dropped: number
}

/** Whose lines they are; `written` is there from the first line on. */
interface Writer {
  readonly claim: Claim
  written?: Written | undefined
}

export interface LogBufferOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly scrub?: Scrub | undefined
}

export class LogBuffer {
  readonly #options: LogBufferOptions
  #waiting: NewLine[] = []
  #timer: Timer | undefined
  #flushing: Promise<void> | undefined
  #closed = false

  constructor(options: LogBufferOptions) {
    this.#options = options
  }

  add(writer: Writer, message: unknown, fields?: unknown): void {
    const written = (writer.written ??= { lines: 0, bytes: 0, dropped: 0 })
    const { scrub = (text) => text } = this.#options
    const text = encodeMessage(message, scrub)
    const more = fields === undefined ? undefined : encodeFields(fields, scrub)
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(more ?? '')
    const fits = written.lines < linesPerAttemptMax && written.bytes + bytes <= bytesPerAttemptMax
    if (!fits || this.#waiting.length >= waitingLinesMax || this.#closed) {
      written.dropped++
      if (this.#closed && written.dropped === 1)
        this.#options.log.warn('a line came after the end', { job: writer.claim.id, line: text.slice(0, 200) })
      return
    }
    written.bytes += bytes
    this.#push(writer.claim, ++written.lines, 'info', text, more)
  }

  /** The attempt is over; if it wrote too much its last line says so. */
  end({ claim, written }: Writer): void {
    if (!written || written.dropped === 0) return
    const limit = `an attempt may log ${linesPerAttemptMax} lines and ${bytesPerAttemptMax} bytes`
    this.#push(claim, written.lines + 1, 'warn', `${written.dropped} lines were dropped: ${limit}`, undefined)
    written.dropped = 0
  }

  /** Stores what waits, and what comes meanwhile. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined
      this.#flushSoon()
    })
    return this.#flushing
  }

  /** The last words: tried a few times, and what could not be stored is told. */
  async close(): Promise<void> {
    this.#closed = true
    for (let tries = 1; this.#waiting.length > 0 || this.#flushing; tries++) {
      await this.flush()
      if (this.#waiting.length === 0) break
      if (tries >= lastTriesMax) {
        this.#options.log.error('lines of jobs were lost', { lines: this.#waiting.splice(0).length })
        break
      }
      await pause(this.#options.clock, retryMs)
    }
    this.#timer?.cancel()
  }

  #push(claim: Claim, line: number, level: NewLine['level'], message: string, fields: string | undefined): void {
    const atMs = this.#options.clock.monotonic()
    this.#waiting.push({ job: claim.id, attempt: claim.attempt, line, level, message, fields, atMs })
    if (this.#waiting.length >= linesPerStatementMax) void this.flush()
    else this.#flushSoon()
  }

  #flushSoon(afterMs = flushMs): void {
    if (this.#timer || this.#flushing || this.#waiting.length === 0) return
    this.#timer = this.#options.clock.after(afterMs, () => void this.flush())
  }

  async #write(): Promise<void> {
    const { database, clock, log } = this.#options
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0, linesPerStatementMax)
      try {
        await writeLines(database, lines, clock.monotonic())
      } catch (error) {
        if (!isTransient(error)) {
          log.error('lines of jobs were lost', { lines: lines.length, reason: String(error) })
          continue
        }
        this.#waiting.unshift(...lines)
        log.warn('lines of jobs wait', { lines: this.#waiting.length, reason: String(error) })
        if (!this.#closed) this.#timer = clock.after(retryMs, () => void this.flush())
        return
      }
    }
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function encodeMessage(message: unknown, scrub: Scrub): string {
  try {
    const text = scrub(typeof message === 'string' ? message : String(message))
    return text.slice(0, messageCharsMax).replaceAll('\0', '\uFFFD').toWellFormed()
  } catch (error) {
    return `a message that cannot be read: ${String(error)}`
  }
}

/** JSON text of an object, whatever was given: a handler does not fail because it logged something odd. */
function encodeFields(fields: unknown, scrub: Scrub): string {
  try {
    const object = typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? fields : { value: fields }
    const json = scrub(JSON.stringify(object)).replace(unstorable, '$1\uFFFD')
    if (json.length > fieldsCharsMax) return JSON.stringify({ tooLarge: `${json.length} characters` })
    JSON.parse(json) // a scrubber that is careless could break it
    return json
  } catch (error) {
    return JSON.stringify({ unreadable: String(error) })
  }
}

/** In JSON text a character that PostgreSQL refuses stands as an escape that is not itself escaped. */
const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/g
