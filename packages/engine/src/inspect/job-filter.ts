/**
 * Which jobs a list, a search or a bulk action is about: checked at the door, and as the database reads it.
 */
import { z } from 'zod'
import { type JobState, moves } from '../job/lifecycle.ts'
import { SluiceError } from '../support/errors.ts'
import { checkFields } from '../support/issue.ts'
import { isStorableJson, unstorable } from '../support/text.ts'
import { nameText, rowId } from './page.ts'

export interface JobFilter {
  readonly state?: JobState | readonly JobState[] | undefined
  readonly kind?: string | undefined
  readonly pool?: string | undefined
  /** Empty for the open lane. */
  readonly lane?: string | undefined
  readonly owner?: string | undefined
  readonly run?: number | undefined
  /** The job at the root of a tree, and all that came of it. */
  readonly tree?: number | undefined
  /** `error` of a group of dead letters. */
  readonly error?: string | undefined
}

export interface JobSearch extends JobFilter {
  /** Fits payloads that contain it: objects with these fields among others, arrays with these elements. */
  readonly payload: unknown
}

const state = z.enum(Object.keys(moves) as [JobState, ...JobState[]])

const fields = {
  state: z.union([state, z.array(state).min(1)]).optional(),
  kind: nameText.optional(),
  pool: nameText.optional(),
  lane: nameText.optional(),
  owner: nameText.optional(),
  run: rowId.optional(),
  tree: rowId.optional(),
  error: z
    .string()
    .regex(/^[0-9a-f]{16}$/, 'is no group of dead letters')
    .optional(),
}

/** What `sluice.list_jobs` takes. */
export interface EncodedFilter {
  readonly states?: readonly JobState[]
  readonly payload?: unknown
  readonly [field: string]: unknown
}

export function encodeFilter(filter: JobFilter): EncodedFilter {
  const { state: states, ...rest } = checkFields(z.strictObject(fields), filter)
  return withStates(rest, states)
}

export function encodeSearch(search: JobSearch): EncodedFilter {
  const { state: states, payload, ...rest } = checkFields(z.strictObject({ ...fields, payload: z.json() }), search)
  if (!isStorableJson(JSON.stringify(payload))) throw new SluiceError('INVALID_OPTION', { field: 'payload', problem: unstorable })
  return { ...withStates(rest, states), payload }
}

/** Only failed jobs that are still here have a group. Repeated states are told once, in a fixed order. */
function withStates(rest: object, states: JobState | readonly JobState[] | undefined): EncodedFilter {
  const given = typeof states === 'string' ? [states] : states
  if ('error' in rest && rest.error !== undefined) {
    if (given?.includes('failed') === false)
      throw new SluiceError('INVALID_OPTION', { field: 'error', problem: 'groups are of failed jobs; leave `state` out' })
    return { ...rest, states: ['failed'] }
  }
  return given === undefined ? { ...rest } : { ...rest, states: [...new Set(given)].toSorted() }
}
