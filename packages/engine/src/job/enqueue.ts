/**
 * The enqueue statements. They join whatever transaction they are sent in; a rolled-back one leaves no job.
 *
 * Jobs of one kind that differ in their payload only, which is what most bulks are, go by a shorter statement at half the cost; a lone job
 * with nothing special about it by the shortest, because somebody waits for it. Both answer nothing where the long way is needed.
 */
import type { QueryClient } from '../postgres/client.ts'
import type { Statement } from '../postgres/database.ts'
import { sqlState } from '../postgres/transient.ts'
import { SluiceError } from '../support/errors.ts'
import type { EncodedRequest } from './request.ts'

export interface EnqueueOptions {
  /** A client of yours with an open transaction: the job is there if and only if you commit. */
  readonly client?: QueryClient
}

export interface Enqueued {
  readonly id: number
  /** False when a job with the same key was there already: `id` is that job's. */
  readonly created: boolean
}

const longStatement: Statement = { name: 'sluice_enqueue', text: 'select ids, existing from sluice.enqueue_many($1::jsonb, $2)' }
const eitherStatement: Statement = {
  name: 'sluice_enqueue_alike_or_any',
  text: 'select ids, existing from sluice.enqueue_alike_or_any($1, $2::jsonb, $3, $4)',
}
const alikeStatement: Statement = {
  name: 'sluice_enqueue_alike',
  text: 'select sluice.enqueue_alike($1, $2::jsonb, $3, $4) as ids',
}
const loneStatement: Statement = {
  name: 'sluice_enqueue_lone',
  text: 'select sluice.enqueue_lone($1, $2::jsonb, $3, $4) as id',
}

export interface Call {
  readonly statement: Statement
  readonly values: unknown[]
}

type Id = number | string

/** On a connection of ours. `send` brings the columns of the row that a call answers with. */
export async function enqueueBy(
  send: (call: Call) => Promise<readonly unknown[]>,
  requests: readonly EncodedRequest[],
  wake: boolean,
): Promise<Enqueued[]> {
  if (areAlike(requests)) {
    const [made] = await send(requests.length === 1 ? loneCall(requests, wake) : alikeCall(alikeStatement, requests, wake))
    if (Array.isArray(made)) return (made as Id[]).map(toNew)
    if (made) return [toNew(made as Id)]
  }
  const [ids, existing] = await send(longCall(requests, wake))
  return readEnqueued(ids, existing)
}

/** On a client with a transaction of its own: a caller's, or that of a settle. One statement, because a caller may not wait for it. */
export async function enqueueOn(
  client: QueryClient,
  requests: readonly EncodedRequest[],
  wake: boolean,
  list = 'jobs',
): Promise<Enqueued[]> {
  if (requests.length === 0) return []
  const { statement, values } = areAlike(requests) ? alikeCall(eitherStatement, requests, wake) : longCall(requests, wake)
  try {
    const { rows } = await client.query(statement.text, values)
    const row = rows[0] as { ids: Id[]; existing: number[] | null } | undefined
    return readEnqueued(row?.ids, row?.existing)
  } catch (error) {
    throw explainRefusal(error, requests, list)
  }
}

const toNew = (id: Id): Enqueued => ({ id: Number(id), created: true })

function readEnqueued(ids: unknown, existing: unknown): Enqueued[] {
  const found = new Set(existing as number[] | null)
  return ((ids ?? []) as Id[]).map((id, index) => ({ id: Number(id), created: !found.has(index + 1) }))
}

/** They differ in their payload only. */
function areAlike(requests: readonly EncodedRequest[]): boolean {
  const { kind, trace } = requests[0] ?? {}
  return requests.every((one) => one.fields === '' && one.kind === kind && one.trace === trace)
}

function loneCall([one]: readonly EncodedRequest[], wake: boolean): Call {
  return { statement: loneStatement, values: [one?.kind, one?.payload, wake, one?.trace ?? null] }
}

function alikeCall(statement: Statement, requests: readonly EncodedRequest[], wake: boolean): Call {
  const payloads = `[${requests.map(({ payload }) => payload).join(',')}]`
  return { statement, values: [requests[0]?.kind, payloads, wake, requests[0]?.trace ?? null] }
}

function longCall(requests: readonly EncodedRequest[], wake: boolean): Call {
  const rows = requests.map(({ kind, payload, fields, trace }) => {
    const carried = trace === undefined ? '' : `,"trace":"${trace}"`
    return `{"kind":${JSON.stringify(kind)},"payload":${payload}${fields}${carried}}`
  })
  return { statement: longStatement, values: [`[${rows.join(',')}]`, wake] }
}

/** Of many, the first that is meant. */
function placeOf(kind: string, requests: readonly EncodedRequest[], list: string): { place?: string } {
  const at = requests.length > 1 ? requests.findIndex((request) => request.kind === kind) : -1
  return at < 0 ? {} : { place: `${list}[${at}]` }
}

/** The database refuses in codes of its own; callers get the same errors as from a check in this process. */
export function explainRefusal(error: unknown, requests: readonly EncodedRequest[], list = 'jobs'): unknown {
  const state = sqlState(error)
  const message = error instanceof Error ? error.message : ''
  const kind = /"(.+)"/s.exec(message)?.[1] ?? requests[0]?.kind ?? ''
  if (state === 'SL001') return new SluiceError('UNKNOWN_KIND', { kind, ...placeOf(kind, requests, list) }, error)
  if (state === 'SL002') return new SluiceError('INVALID_OPTION', { field: 'enqueue', problem: message }, error)
  if (state === 'SL003')
    return new SluiceError('PAYLOAD_TOO_LARGE', { kind, bytes: 'too many', limit: /\d+/.exec(message)?.[0] }, error)
  if (state === 'SL004') return new SluiceError('COST_NEVER_FITS', { kind, problem: message }, error)
  if (state === 'SL005') return new SluiceError('UNKNOWN_EVENT', { event: kind }, error)
  if (state === 'SL006')
    return new SluiceError('EVENT_CYCLE', { event: kind, chain: /of (\d+) events/.exec(message)?.[1] }, error)
  if (state === '40001' && message.includes('dedupe key')) return new SluiceError('DEDUPE_CONTENDED', { kind }, error)
  return error
}
