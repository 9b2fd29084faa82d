/**
 * Live connections (Server-Sent Events): written to when something happens, pinged by one timer for all of them, and only while there are any.
 *
 * A reader that is too slow is cut, not waited for: it comes back by itself with the id of the last event that it got. A connection has a longest
 * life, so that a key that was revoked does not go on listening for ever.
 */
import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '@sluice/engine'
import type { HttpLimits } from '../limits.ts'
import type { Feed, LiveEvent } from './feed.ts'

export const pingMs = 15_000

interface Connection {
  readonly response: ServerResponse
  readonly sinceMs: number
  readonly leave: () => void
}

export class LiveConnections {
  readonly #feed: Feed
  readonly #clock: Clock
  readonly #limits: HttpLimits
  readonly #open = new Set<Connection>()
  #timer: Timer | undefined

  constructor(feed: Feed, clock: Clock, limits: HttpLimits) {
    this.#feed = feed
    this.#clock = clock
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  get full(): boolean {
    return this.#open.size >= this.#limits.livesMax
  }

  /** The head of the answer has been written. */
  add(response: ServerResponse, lastId: string | undefined): void {
    const listener = (event: LiveEvent): void => this.#write(connection, frame(event.change.topic, event.id, event.change))
    const { id, reset, missed, leave } = this.#feed.join(listener, lastId)
    const connection: Connection = { response, sinceMs: this.#clock.monotonic(), leave }
    this.#open.add(connection)
    response.once('close', () => this.#remove(connection))
    this.#write(connection, `retry: 2000\n${frame(reset ? 'reset' : 'hello', missed[0] ? undefined : id, {})}`)
    for (const event of missed) listener(event)
    this.#timer ??= this.#clock.after(pingMs, () => this.#ping())
  }

  /** All of them; they come back to whichever process is there. */
  close(): void {
    for (const { response } of this.#open) response.end()
    this.#timer?.cancel()
    this.#feed.stop()
  }

  #ping(): void {
    this.#timer = undefined
    const nowMs = this.#clock.monotonic()
    for (const connection of this.#open) {
      if (nowMs - connection.sinceMs >= this.#limits.liveMsMax) connection.response.end()
      else this.#write(connection, ': ping\n\n')
    }
    if (this.#open.size > 0) this.#timer = this.#clock.after(pingMs, () => this.#ping())
  }

  #write(connection: Connection, text: string): void {
    const { response } = connection
    if (response.writableEnded || response.destroyed) return
    if (response.writableLength > this.#limits.liveBytesMax) response.destroy()
    else response.write(text)
  }

  #remove(connection: Connection): void {
    if (!this.#open.delete(connection)) return
    connection.leave()
    if (this.#open.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }
}

/** No line of the data can end the frame: JSON has no line breaks of its own. */
function frame(event: string, id: string | undefined, data: object): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
