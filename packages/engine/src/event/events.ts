/**
 * Events, as people publish them and look at them: `engine.publish` and `engine.events`.
 */

import { clientOf, type Executor, type QueryClient } from '../postgres/client.ts'
import { explainConnect } from '../postgres/connect.ts'
import type { Observer } from '../support/fact.ts'
import { checkId, checkOptions } from '../support/options.ts'
import { startSending, withSending } from '../support/trace.ts'
import { type EventRequest, encodeEvent, nameOfEvent } from './event.ts'
import { type EventPage, findEvent, listEvents, type PublishedEvent, publishOn } from './event-store.ts'

/** A database that is migrated, and its limit. */
export interface Ready {
  readonly on: Executor & { readonly pool: QueryClient }
  readonly payloadBytesMax: number
}

export interface PublishOptions {
  /** A client of yours with an open transaction: the event happened if and only if you commit. */
  readonly client?: QueryClient
}

export class Events {
  readonly #ready: () => Promise<Ready>
  readonly #tell: Observer | undefined

  constructor(ready: () => Promise<Ready>, tell?: Observer) {
    this.#ready = ready
    this.#tell = tell
  }

  async publish(request: EventRequest, options?: PublishOptions): Promise<{ id: number }> {
    const client = clientOf('publish', options)
    const { on, payloadBytesMax } = await this.#ready()
    const name = nameOfEvent(request)
    const sending = startSending('publish', name, 1)
    const publish = async (): Promise<number[]> => {
      const encoded = encodeEvent(request, { payloadBytesMax }, { trace: sending?.trace })
      return publishOn(client ?? on.pool, [encoded])
    }
    const [id] = await withSending(sending, publish, (ids) => ids).catch((error: unknown) => {
      throw client ? error : explainConnect(error)
    })
    this.#tell?.({ type: 'event.published', event: name, id: id as number })
    return { id: id as number }
  }

  /** Newest first. */
  async list(page: EventPage = {}): Promise<PublishedEvent[]> {
    checkOptions('events.list', page, ['type', 'owner', 'before', 'limit'])
    return listEvents((await this.#ready()).on, page)
  }

  async find(id: number): Promise<PublishedEvent | undefined> {
    checkId('event', id)
    return findEvent((await this.#ready()).on, id)
  }
}
