/**
 * Ends that have consequences: everything a job caused commits with its end.
 *
 * A handler's `write` comes first, on the same transaction, then the ends, the children and the events, and last what is counted in lanes and
 * runs, because those rows are shared. Claims come in id order, so that two groups never wait for each other. All but the write gives up on what is in
 * somebody's hand after a moment: whoever keeps a transaction open does not keep our ends.
 */
import type { Claim } from '../dispatch/claim.ts'
import { encodeEvent, type Origin } from '../event/event.ts'
import { publishOn } from '../event/event-store.ts'
import { enqueueOn } from '../job/enqueue.ts'
import { tellEnqueued } from '../job/intake.ts'
import { type AnyKind, askKind } from '../job/kind.ts'
import { encodeRequest, type Origins } from '../job/request.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { Clock } from '../support/clock.ts'
import { eachOf } from '../support/errors.ts'
import type { Probe } from '../support/fail-point.ts'
import type { Witness } from '../support/witness.ts'
import { type Ended, explainWait, hasConsequences, hasWrite, isOfSettle } from './ended.ts'
import { lendToWrite } from './lend-to-write.ts'
import { type Added, countEnds, doneText, holdText, settle } from './settle.ts'

/** As long as a settle waits for a lane. */
const hurry = `set local lock_timeout = '500ms'`

export interface TogetherOptions {
  readonly kinds: ReadonlyMap<string, AnyKind>
  readonly database: Database
  readonly clock: Clock
  readonly witness?: Witness
  readonly probe: Probe
  readonly worker: () => number
  readonly payloadBytesMax: () => number
  readonly leaseMs: number
  /** Whether the jobs that others caused are told of by `onCaused`, after the commit; otherwise they notify in their own statement. */
  readonly announces?: () => boolean
  readonly onCaused?: (ids: readonly number[]) => void
}

/** Answers the claims that were somebody else's by then. One with a write is alone in its group. `onBegun`: there is a transaction. */
export async function settleTogether(group: readonly Ended[], options: TogetherOptions, onBegun: () => void): Promise<number[]> {
  const { database, clock, kinds, probe, leaseMs } = options
  const writing = group.find(hasWrite)
  let stale: number[] = []
  let tellCaused = (): void => {}
  const limitMs = kinds.get(writing?.claim.kind ?? '')?.timeoutMs ?? leaseMs
  const act = async (transaction: Transaction): Promise<void> => {
    const { client, found, answered, commitWith } = transaction
    onBegun()
    stale = []
    if (writing && found.length === 0) return void stale.push(writing.claim.id)
    if (writing) await lendToWrite(transaction, writing, { database, clock, limitMs })
    if (writing && !hasConsequences(writing) && !writing.said) {
      await probe('before commit')
      const old = await commitWith(doneText(writing.claim))
      if (old.length > 0) stale.push(writing.claim.id) // its handler ended the transaction by itself, and lost the row
      return
    }
    if (writing) await answered(client.query(hurry))
    const stored = await answered(store(client, group, options)).catch((error: unknown) => {
      throw explainWait(error, group)
    })
    stale = stored.stale
    tellCaused = stored.tell
    await probe('before commit')
  }
  await database.transaction(leaseMs, act, writing ? holdText(writing.claim) : hurry).catch((error: unknown) => {
    throw isOfSettle(error) ? explainWait(error, group) : error // what the write itself waits for is its own affair
  })
  tellCaused()
  await probe('settled')
  return stale
}

/** `tell` is for after the commit. */
async function store(
  client: Transaction['client'],
  group: readonly Ended[],
  options: TogetherOptions,
): Promise<{ stale: number[]; tell: () => void }> {
  const { database, kinds, witness, worker, payloadBytesMax, onCaused } = options
  const announced = options.announces?.() === true
  const held = group.toSorted((a, b) => a.claim.id - b.claim.id)
  const settled = await settle(database, client, worker(), held, !held.some(hasConsequences), null)
  const stale = new Set(settled.stale)
  const succeeded = held.flatMap(({ claim, verdict, trace }) =>
    stale.has(claim.id) || verdict.outcome !== 'done' ? [] : [{ claim, trace, ...verdict }],
  )
  const limits = { payloadBytesMax: payloadBytesMax() }
  const parents = succeeded.flatMap(({ claim, next = [] }) => next.map(() => claim))
  const children = succeeded.flatMap(({ claim, trace, next = [] }) =>
    eachOf(next, 'next', (request) => encodeRequest(askKind(request, kinds), limits, familyOf(claim, trace))),
  )
  const enqueued = await enqueueOn(client, children, !announced, 'next')
  const added = new Map<number, Added>()
  for (const [at, claim] of parents.entries()) {
    const child = enqueued[at]
    if (claim.run !== undefined && child?.created) added.set(claim.run, withOne(added.get(claim.run), child.id))
  }
  const events = succeeded.flatMap(({ claim, trace, publish = [] }) =>
    eachOf(publish, 'publish', (request) => encodeEvent(request, limits, originOf(claim, trace))),
  )
  const published = await publishOn(client, events)
  await countEnds(database, client, settled, added)
  const orphaned = enqueued
    .filter(({ created }, at) => created && settled.below.includes(parents[at]?.id ?? 0))
    .map(({ id }) => id)
  if (orphaned.length > 0)
    await client.query('select sluice.cancel($1::bigint[], $2, true)', [orphaned, 'canceled with its parent'])
  const tell = (): void => {
    if (announced && enqueued.length > 0) onCaused?.(enqueued.map(({ id }) => id))
    if (witness?.jobs) tellEnqueued(witness.jobs, children, enqueued)
    for (const [at, id] of published.entries()) witness?.tell({ type: 'event.published', event: events[at]?.event ?? '', id })
  }
  return { stale: settled.stale, tell }
}

function withOne(added: Added | undefined, id: number): Added {
  if (!added) return { jobs: 1, first: id, last: id }
  return { jobs: added.jobs + 1, first: Math.min(added.first, id), last: Math.max(added.last, id) }
}

function familyOf({ id, root, run, event, trace: own }: Claim, trace = own): Origins {
  return { family: { parent: id, root: root ?? id, run, event }, trace }
}

function originOf({ id, run, event, trace: own }: Claim, trace = own): Origin {
  return { job: id, run, cause: event, trace }
}
