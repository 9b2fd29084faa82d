/**
 * Intake: where requests come in. It checks them, gives them the trace they carry, sends them on the caller's client or together with others, and
 * tells that they are there.
 */
import type { QueryClient } from '../postgres/client.ts'
import { eachOf, SluiceError } from '../support/errors.ts'
import type { Observer } from '../support/fact.ts'
import { type Sending, startSending, withSending } from '../support/trace.ts'
import type { Witness } from '../support/witness.ts'
import { type Enqueued, enqueueOn } from './enqueue.ts'
import type { Enqueuer } from './enqueuer.ts'
import { type AnyKind, askKind } from './kind.ts'
import { type EncodedRequest, encodeRequest, type JobRequest } from './request.ts'

export interface IntakeOptions {
  readonly enqueuer: Enqueuer
  readonly payloadBytesMax: () => number
  readonly witness: Witness
  /** Those that this process defines. */
  readonly kinds: ReadonlyMap<string, AnyKind>
}

/** A list goes to PostgreSQL as one document, which takes 256 MB of what it makes of it. */
const bulkLengthMax = 100_000_000

export class Intake {
  readonly #options: IntakeOptions

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  one(request: JobRequest, client?: QueryClient): Promise<Enqueued> {
    const encoded = this.#encode(request)
    const sending = startSending('enqueue', encoded.kind, 1, encoded.trace)
    // Nobody looks on: nothing is left to do when it is stored.
    if (!sending && !this.#options.witness.jobs) return this.#send(encoded, client)
    return this.#sendSeen(sending, encoded, client)
  }

  async #sendSeen(sending: Sending | undefined, encoded: EncodedRequest, client: QueryClient | undefined): Promise<Enqueued> {
    const enqueued = await withSending(
      sending,
      () => this.#send(sending ? { ...encoded, trace: sending.trace } : encoded, client),
      ({ id }) => [id],
    )
    this.#tell([encoded], [enqueued])
    return enqueued
  }

  #send(request: EncodedRequest, client: QueryClient | undefined): Promise<Enqueued> {
    if (!client) return this.#options.enqueuer.add(request)
    return enqueueOn(client, [request], true).then(([enqueued]) => enqueued as Enqueued)
  }

  /** All of them or none. They share a span; one that brings a trace of its own keeps it. */
  async many(requests: readonly JobRequest[], client?: QueryClient): Promise<Enqueued[]> {
    const given: unknown = requests
    if (!Array.isArray(given)) throw new SluiceError('INVALID_OPTION', { field: 'jobs', problem: 'is no list; give [ … ]' })
    if (requests.length === 0) return []
    const encoded = eachOf(requests, 'jobs', (request) => this.#encode(request))
    const length = encoded.reduce((sum, { payload }) => sum + payload.length, 0)
    if (length > bulkLengthMax)
      throw new SluiceError('INVALID_OPTION', {
        field: 'jobs',
        problem: `have ${Math.ceil(length / 1e6)} MB of payloads together, and one call takes ${bulkLengthMax / 1e6}; give them in several calls, with the client of one transaction if all or none are to be there`,
      })
    const sending = startSending('enqueue', nameOf(encoded), encoded.length)
    const carrying = sending ? encoded.map((one) => ({ ...one, trace: one.trace ?? sending.trace })) : encoded
    const send = (): Promise<Enqueued[]> =>
      client ? enqueueOn(client, carrying, true) : this.#options.enqueuer.addMany(carrying)
    const enqueued = await withSending(sending, send, (all) => all.map(({ id }) => id))
    this.#tell(encoded, enqueued)
    return enqueued
  }

  #encode(request: JobRequest): EncodedRequest {
    const { kinds, payloadBytesMax } = this.#options
    return encodeRequest(askKind(request, kinds), { payloadBytesMax: payloadBytesMax() })
  }

  #tell(requests: readonly EncodedRequest[], enqueued: readonly Enqueued[]): void {
    const tell = this.#options.witness.jobs
    if (tell) tellEnqueued(tell, requests, enqueued)
  }
}

export function tellEnqueued(tell: Observer, requests: readonly EncodedRequest[], enqueued: readonly Enqueued[]): void {
  for (const [at, { id, created }] of enqueued.entries())
    tell({ type: 'job.enqueued', job: id, kind: requests[at]?.kind ?? '', created })
}

/** The name of a span must not be one of many. */
function nameOf(requests: readonly EncodedRequest[]): string {
  const kind = requests[0]?.kind ?? ''
  return requests.every((request) => request.kind === kind) ? kind : 'jobs'
}
