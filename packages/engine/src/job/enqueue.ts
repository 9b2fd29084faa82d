/**
 * The enqueue statement. It joins whatever transaction its executor is in; a rolled-back one leaves no job.
 */
import sql from 'sql-template-tag'
import type { Executor } from '../postgres/client.ts'
import { sqlState } from '../postgres/transient.ts'
import { SluiceError } from '../support/errors.ts'
import type { EncodedRequest } from './request.ts'

export interface Enqueued {
  readonly id: number
  /** False when a job with the same key was there already: `id` is that job's. */
  readonly created: boolean
}

export const enqueueStatement = { name: 'sluice_enqueue', text: 'select ids, existing from sluice.enqueue_many($1::jsonb, $2)' }

export async function enqueueRows(on: Executor, requests: readonly EncodedRequest[], wake: boolean): Promise<Enqueued[]> {
  if (requests.length === 0) return []
  try {
    const { rows } = await on.query<{ ids: (number | string)[]; existing: number[] | null }>(
      sql`select ids, existing from sluice.enqueue_many(${enqueueValue(requests)}::jsonb, ${wake})`,
    )
    return readEnqueued(rows[0]?.ids, rows[0]?.existing)
  } catch (error) {
    throw explainRefusal(error, requests)
  }
}

export function enqueueValue(requests: readonly EncodedRequest[]): string {
  return `[${requests.map((request) => request.json).join(',')}]`
}

export function readEnqueued(
  ids: readonly (number | string)[] | null | undefined,
  existing: readonly number[] | null | undefined,
): Enqueued[] {
  const found = new Set(existing ?? [])
  return (ids ?? []).map((id, index) => ({ id: Number(id), created: !found.has(index + 1) }))
}

/** The database refuses in codes of its own; callers get the same errors as from a check in this process. */
export function explainRefusal(error: unknown, requests: readonly EncodedRequest[]): unknown {
  const state = sqlState(error)
  const message = error instanceof Error ? error.message : ''
  const kind = /"(.+)"/s.exec(message)?.[1] ?? requests[0]?.kind ?? ''
  if (state === 'SL001') return new SluiceError('UNKNOWN_KIND', { kind }, error)
  if (state === 'SL002') return new SluiceError('INVALID_OPTION', { field: 'enqueue', problem: message }, error)
  if (state === 'SL003')
    return new SluiceError('PAYLOAD_TOO_LARGE', { kind, bytes: 'too many', limit: /\d+/.exec(message)?.[0] }, error)
  if (state === '40001' && message.includes('dedupe key')) return new SluiceError('DEDUPE_CONTENDED', { kind }, error)
  return error
}
