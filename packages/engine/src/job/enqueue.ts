/**
 * The enqueue statements. They join whatever transaction they are sent in; a rolled-back one leaves no job.
 *
 * Jobs of one kind that differ in their payload only, which is what most bulks are, go by a shorter statement at half the cost; a lone job
 * with nothing special about it by the shortest, because somebody waits for it.
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

/**
 * For a key in somebody's hand: without limit, in a caller's own transaction; or for so many ms, then the statement fails with `lockTaken`; or each job that would
 * have to is left out, and the others are stored.
 */
export type Waits = 'long' | 'never' | number
/** PostgreSQL's word for a lock that did not come in time. */
export const lockTaken = '55P03'
/** In place of the id of a job that was left out: its key is in somebody's hand. */
export const heldBack = 0
/** Or something else is wrong with it. */
export const refused = -1

const anyStatements: Record<'long' | 'never' | 'within', Statement> = {
  long: { name: 'sluice_enqueue', text: 'select ids, existing from sluice.enqueue_many($1::jsonb, $2)' },
  within: { name: 'sluice_enqueue_within', text: 'select ids, existing from sluice.enqueue_within($1::jsonb, $2, $3)' },
  never: { name: 'sluice_enqueue_each', text: 'select ids, existing from sluice.enqueue_each($1::jsonb, $2)' },
}
const alikeStatement: Statement = {
  name: 'sluice_enqueue_alike',
  text: 'select ids, existing from sluice.enqueue_alike($1, $2::jsonb, $3, $4, $5)',
}
/** Answers nothing when one of them needs another way. It waits for a tenth of a second. */
export const tryAlikeStatement: Statement = {
  name: 'sluice_try_alike',
  text: 'select sluice.try_alike($1, $2::jsonb, $3, $4)',
}

/** Answers nothing when the job needs one of the others. It waits as briefly. */
export const loneStatement: Statement = {
  name: 'sluice_enqueue_lone',
  text: 'select id, handed_over from sluice.enqueue_lone($1, $2::jsonb, $3, $4, $5)',
}

/** The values of the statements for jobs that differ in their payload only; nothing for others. */
export function alikeValues(requests: readonly EncodedRequest[], wake: boolean): unknown[] | undefined {
  const { kind = '', trace } = requests[0] ?? {}
  const isAlike = (request: EncodedRequest): boolean => request.kind === kind && request.fields === '' && request.trace === trace
  if (!requests.every(isAlike)) return undefined
  return [kind, `[${requests.map(({ payload }) => payload).join(',')}]`, wake, trace ?? null]
}

/** `alike`: by the shorter way, where that will do. */
export function enqueueStatement(
  requests: readonly EncodedRequest[],
  { wake, waits, alike }: { wake: boolean; waits: Waits; alike: boolean },
): { statement: Statement; values: unknown[] } {
  const values = alike ? alikeValues(requests, wake) : undefined
  if (values) return { statement: alikeStatement, values: [...values, typeof waits === 'number' ? waits : null] }
  const rows = requests.map(({ kind, payload, fields, trace }) => {
    const carried = trace === undefined ? '' : `,"trace":"${trace}"`
    return `{"kind":${JSON.stringify(kind)},"payload":${payload}${fields}${carried}}`
  })
  const list = `[${rows.join(',')}]`
  if (typeof waits === 'number') return { statement: anyStatements.within, values: [list, wake, waits] }
  return { statement: anyStatements[waits], values: [list, wake] }
}

/** On a client with a transaction of its own: a caller's, or that of a settle. */
export async function enqueueOn(
  client: QueryClient,
  requests: readonly EncodedRequest[],
  wake: boolean,
  list = 'jobs',
): Promise<Enqueued[]> {
  if (requests.length === 0) return []
  const { statement, values } = enqueueStatement(requests, { wake, waits: 'long', alike: true })
  try {
    const { rows } = await client.query(statement.text, values)
    const row = rows[0] as { ids: (number | string)[]; existing: number[] | null } | undefined
    return readEnqueued(row?.ids, row?.existing)
  } catch (error) {
    throw explainElsewhere(explainRefusal(error, requests, list))
  }
}

/** A caller's client may lead to another database than the engine's own. */
export function explainElsewhere(error: unknown): unknown {
  if (sqlState(error) !== '3F000') return error
  const problem = 'is connected to a database without Sluice; give a client of the one that the engine works on'
  return new SluiceError('INVALID_OPTION', { field: 'client', problem }, error)
}

export function readEnqueued(
  ids: readonly (number | string)[] | null | undefined,
  existing: readonly number[] | null | undefined,
): Enqueued[] {
  const found = existing ? new Set(existing) : undefined
  return (ids ?? []).map((id, index) => ({ id: Number(id), created: !found?.has(index + 1) }))
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
  if (state === 'SL002') {
    const { hint = '' } = error as { hint?: string }
    const problem = hint === '' ? message : `${message}. ${hint.replace(/\.$/, '')}`
    return new SluiceError('INVALID_OPTION', { field: 'enqueue', problem, ...placeOf(kind, requests, list) }, error)
  }
  if (state === 'SL003')
    return new SluiceError('PAYLOAD_TOO_LARGE', { kind, bytes: 'too many', limit: /\d+/.exec(message)?.[0] }, error)
  if (state === 'SL004') return new SluiceError('COST_NEVER_FITS', { kind, problem: message }, error)
  if (state === 'SL005') return new SluiceError('UNKNOWN_EVENT', { event: kind }, error)
  if (state === 'SL006')
    return new SluiceError('EVENT_CYCLE', { event: kind, chain: /of (\d+) events/.exec(message)?.[1] }, error)
  if (state === '40001' && message.includes('dedupe key')) return new SluiceError('DEDUPE_CONTENDED', { kind }, error)
  return error
}
