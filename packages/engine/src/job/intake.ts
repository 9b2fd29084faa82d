/**
 * Intake: where requests come in. It checks them, sends them on the caller's client or together with others, and tells that they are there.
 */
import type { QueryClient } from '../postgres/client.ts'
import type { Observer } from '../support/fact.ts'
import { type Enqueued, enqueueOn } from './enqueue.ts'
import type { Enqueuer } from './enqueuer.ts'
import { type EncodedRequest, encodeRequest, type JobRequest } from './request.ts'

export interface IntakeOptions {
  readonly enqueuer: Enqueuer
  readonly payloadBytesMax: () => number
  /** Hears of each job. */
  readonly tell: Observer | undefined
}

export class Intake {
  readonly #options: IntakeOptions

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  async one(request: JobRequest, client?: QueryClient): Promise<Enqueued> {
    const encoded = this.#encode(request)
    const enqueued = client
      ? ((await enqueueOn(client, [encoded], true))[0] as Enqueued)
      : await this.#options.enqueuer.add(encoded)
    this.#tell([encoded], [enqueued])
    return enqueued
  }

  /** All of them or none. */
  async many(requests: readonly JobRequest[], client?: QueryClient): Promise<Enqueued[]> {
    if (requests.length === 0) return []
    const encoded = requests.map((request) => this.#encode(request))
    const enqueued = await (client ? enqueueOn(client, encoded, true) : this.#options.enqueuer.addMany(encoded))
    this.#tell(encoded, enqueued)
    return enqueued
  }

  #encode(request: JobRequest): EncodedRequest {
    return encodeRequest(request, { payloadBytesMax: this.#options.payloadBytesMax() })
  }

  #tell(requests: readonly EncodedRequest[], enqueued: readonly Enqueued[]): void {
    if (this.#options.tell) tellEnqueued(this.#options.tell, requests, enqueued)
  }
}

export function tellEnqueued(tell: Observer, requests: readonly EncodedRequest[], enqueued: readonly Enqueued[]): void {
  for (const [at, { id, created }] of enqueued.entries())
    tell({ type: 'job.enqueued', job: id, kind: requests[at]?.kind ?? '', created })
}
