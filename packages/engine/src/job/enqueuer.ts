/**
 * Enqueuer: lets single enqueues that come at the same time share a commit.
 *
 * The first goes out at once; those that arrive while it is under way travel together as soon as it is back, so a lone caller waits for
 * nobody and sixty-four callers cost a few commits. Requests were checked before they came here; if the database refuses a group
 * nevertheless, its members are tried one by one, so that a bad one fails only its caller. What has to wait for a key in somebody's hand stands in a line of its own
 * (`held-up.ts`) and keeps nobody waiting who does not want that key. Requests inside a caller's own transaction never come here.
 */
import type { Dispatcher, OfferFacts } from '../dispatch/dispatcher.ts'
import { explainConnect } from '../postgres/connect.ts'
import type { Carrier, Database, Statement } from '../postgres/database.ts'
import { isConnectionLoss, sqlState } from '../postgres/transient.ts'
import {
  alikeValues,
  type Enqueued,
  enqueueStatement,
  explainRefusal,
  heldBack,
  lockTaken,
  loneStatement,
  readEnqueued,
  refused,
  tryAlikeStatement,
  type Waits,
} from './enqueue.ts'
import { HeldUp } from './held-up.ts'
import type { AnyKind } from './kind.ts'
import type { EncodedRequest } from './request.ts'
import type { Waker } from './waker.ts'

/** Who takes hints of what was stored, and the kinds that this process knows. */
export interface Offers {
  readonly dispatcher: Pick<Dispatcher, 'announces' | 'offer'>
  readonly kinds: ReadonlyMap<string, AnyKind>
}

interface Waiting {
  readonly request: EncodedRequest
  readonly resolve: (enqueued: Enqueued) => void
  readonly reject: (error: unknown) => void
}

/** Its id, if it was stored, and whether it was handed over to a process that was idle. */
type LoneRow = [id: number | null, handedOver: boolean | null]
const none: LoneRow = [null, null]

/** The ends of the promise that was made last. A function of its own for each enqueue would be half as much again to clear away as the promise. */
let resolveLast: Waiting['resolve']
let rejectLast: Waiting['reject']
const takeEnds = (resolve: Waiting['resolve'], reject: Waiting['reject']): void => {
  resolveLast = resolve
  rejectLast = reject
}

const groupSizeMax = 500
/** What shares a connection does not keep the others waiting. */
const groupWaitMs = 100
/** A bulk has a connection to itself, and there are few of those. */
const bulkWaitMs = 500
/** One while the callers of the other go on. More would make groups smaller, and each pays its own way. */
const groupsMax = 2

export class Enqueuer {
  readonly #database: Database
  readonly #waker: Waker
  readonly #offers: Offers
  #waiting: Waiting[] = []
  #groups = 0
  #bulks = 0
  #tellIdle: (() => void) | undefined
  readonly #heldUp: HeldUp
  readonly #bulksHeldUp: HeldUp

  constructor(database: Database, waker: Waker, offers: Offers) {
    this.#database = database
    this.#waker = waker
    this.#offers = offers
    const { max } = database.pool.options
    const send = (requests: readonly EncodedRequest[], waitMs: number): Promise<Enqueued[]> =>
      this.#sendByItself(requests, waitMs)
    // Together no more than half of the connections, or little more: the rest is for those who have nothing to do with such keys.
    this.#heldUp = new HeldUp(send, { atOnceMax: Math.max(1, Math.floor(max / 3)), waitMsMin: 1_000, waitMsMax: 1_000 })
    // To give up and begin again costs a bulk more than a single job, so it waits longer each time.
    this.#bulksHeldUp = new HeldUp(send, { atOnceMax: Math.max(1, Math.floor(max / 6)), waitMsMin: 1_000, waitMsMax: 8_000 })
  }

  add(request: EncodedRequest): Promise<Enqueued> {
    const promise = new Promise<Enqueued>(takeEnds)
    this.#waiting.push({ request, resolve: resolveLast, reject: rejectLast })
    if (this.#waiting.length === 1) this.#flushSoon()
    return promise
  }

  /** All of them or none. */
  async addMany(requests: readonly EncodedRequest[]): Promise<Enqueued[]> {
    const [first, ...others] = requests
    if (first && others.length === 0) return [await this.add(first)]
    this.#bulks++
    try {
      return await this.#sendByItself(requests, bulkWaitMs)
    } catch (error) {
      if (sqlState(error) !== lockTaken) throw error
      return await this.#bulksHeldUp.add(requests)
    } finally {
      this.#bulks--
      this.#tellIfIdle()
    }
  }

  /** Resolves when all that was asked for is stored or refused. What waits for a key in somebody's hand is refused soon. */
  async stop(): Promise<void> {
    this.#heldUp.stop()
    this.#bulksHeldUp.stop()
    await new Promise<void>((resolve) => {
      this.#tellIdle = resolve
      this.#tellIfIdle()
    })
  }

  #tellIfIdle(): void {
    if (this.#groups === 0 && this.#bulks === 0 && this.#waiting.length === 0) this.#tellIdle?.()
  }

  /** On a connection to itself. */
  async #sendByItself(requests: readonly EncodedRequest[], waitMs: number): Promise<Enqueued[]> {
    const wake = this.#leads()
    try {
      const enqueued = await this.#ask(this.#database.pool, enqueueStatement(requests, { wake, waits: waitMs, alike: true }))
      this.#tell(requests, enqueued, wake)
      return enqueued
    } catch (error) {
      throw sqlState(error) === lockTaken ? error : explainConnect(explainRefusal(error, requests))
    }
  }

  /** On the connections that all share, by the shortest way that will do. Of those that were left out (`never`), nobody is told. */
  async #sendShared(requests: readonly EncodedRequest[], waits: Waits): Promise<Enqueued[]> {
    const wake = this.#leads()
    const [lone] = requests
    const isLone = requests.length === 1 && lone?.fields === ''
    const [id, handedOver] = isLone ? await this.#sendLone(lone, wake) : none
    const enqueued = id === null ? await this.#sendMany(requests, wake, waits) : [{ id, created: true }]
    const isStored = (_: unknown, at: number): boolean => Number(enqueued[at]?.id) > 0
    if (waits === 'never') this.#tell(requests.filter(isStored), enqueued.filter(isStored), wake)
    else if (!handedOver) this.#tell(requests, enqueued, wake)
    return enqueued
  }

  #leads(): boolean {
    return !this.#offers.dispatcher.announces && this.#waker.leads()
  }

  #tell(requests: readonly EncodedRequest[], enqueued: readonly Enqueued[], notified: boolean): void {
    const { dispatcher } = this.#offers
    if (!dispatcher.announces) this.#waker.stored(requests, notified)
    else
      dispatcher.offer(enqueued.map(({ id, created }, at) => ({ id, facts: created ? this.#factsOf(requests[at]) : undefined })))
  }

  /** What is plain enough to be known without asking: ready now, and in the open lane. */
  #factsOf(request: EncodedRequest | undefined): OfferFacts | undefined {
    if (!request || request.delayed || request.laned) return undefined
    const kind = this.#offers.kinds.get(request.kind)
    if (!kind || kind.lane !== undefined) return undefined
    return { kind: request.kind, pool: request.pool ?? kind.pool, priority: request.priority ?? kind.priority }
  }

  async #sendLone({ kind, payload, trace }: EncodedRequest, wake: boolean): Promise<LoneRow> {
    const { intake } = this.#database
    const handOver = wake && this.#waker.mayFindIdle()
    const [row] = await this.#database.send<LoneRow>(intake, loneStatement, [kind, payload, wake, trace ?? null, handOver])
    if (handOver) this.#waker.foundIdle(row?.[1] === true)
    return row ?? none
  }

  async #sendMany(requests: readonly EncodedRequest[], wake: boolean, waits: Waits): Promise<Enqueued[]> {
    const { intake } = this.#database
    const alike = waits === 'never' ? undefined : alikeValues(requests, wake)
    const [found] = alike ? await this.#database.send<[number[] | null]>(intake, tryAlikeStatement, alike) : []
    if (found?.[0]) return readEnqueued(found[0], null)
    return this.#ask(intake, enqueueStatement(requests, { wake, waits, alike: false }))
  }

  async #ask(on: Carrier, { statement, values }: { statement: Statement; values: unknown[] }): Promise<Enqueued[]> {
    const [row] = await this.#database.send<[number[] | null, number[] | null]>(on, statement, values)
    return readEnqueued(row?.[0], row?.[1])
  }

  /** Callers of the same moment come along. A turn of the loop gathers more of them, and would cost a lone one a tenth of its latency. */
  #flushSoon(): void {
    if (this.#groups >= groupsMax) return
    if (this.#groups > 0) setImmediate(() => this.#flush())
    else process.nextTick(() => this.#flush())
  }

  #flush(): void {
    if (this.#waiting.length === 0 || this.#groups >= groupsMax) return
    const group = this.#waiting.splice(0, groupSizeMax)
    this.#groups++
    void this.#sendGroup(group).finally(() => {
      this.#groups--
      if (this.#waiting.length > 0) this.#flushSoon()
      this.#tellIfIdle()
    })
    if (this.#waiting.length > 0) this.#flush()
  }

  async #sendGroup(group: readonly Waiting[], waits: Waits = groupWaitMs): Promise<void> {
    try {
      const enqueued = await this.#sendShared(
        group.map(({ request }) => request),
        waits,
      )
      const again: Promise<void>[] = []
      group.forEach((waiting, index) => {
        const one = enqueued[index]
        if (!one) waiting.reject(new Error('the database gave no id'))
        else if (one.id === heldBack) this.#holdUp(waiting)
        else if (one.id === refused) again.push(this.#sendGroup([waiting]))
        else waiting.resolve(one)
      })
      if (again.length > 0) await Promise.all(again)
    } catch (error) {
      const [first, ...others] = group
      // After a connection loss nobody knows whether the group was stored: every caller must hear of it.
      if (!first || isConnectionLoss(error))
        for (const { reject, request } of group) reject(explainConnect(explainRefusal(error, [request])))
      else if (others.length > 0 && waits !== 'never') await this.#sendGroup(group, 'never')
      else if (others.length > 0) await Promise.all(group.map((waiting) => this.#sendGroup([waiting])))
      else if (sqlState(error) === lockTaken) this.#holdUp(first)
      else first.reject(explainConnect(explainRefusal(error, [first.request])))
    }
  }

  #holdUp({ request, resolve, reject }: Waiting): void {
    void this.#heldUp.add([request]).then(([one]) => resolve(one as Enqueued), reject)
  }
}
