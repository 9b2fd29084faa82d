/**
 * Runs for people who look, newest first.
 */
import sql from 'sql-template-tag'
import { z } from 'zod'
import type { Executor } from '../postgres/client.ts'
import { type Run, type RunState, runColumns } from '../run/runs.ts'
import { checkFields } from '../support/issue.ts'
import { endOf, type ListEnd, splitEnd } from './jobs.ts'
import { idPlace, type Listed, lookRowsMax, nameText, type Page, readPage } from './page.ts'

export interface RunFilter {
  readonly kind?: string | undefined
  readonly owner?: string | undefined
  readonly state?: RunState | readonly RunState[] | undefined
}

const state = z.enum(['created', 'planning', 'running', 'finalizing', 'completed', 'failed', 'canceled'])

const filterSchema = z.strictObject({
  kind: nameText.optional(),
  owner: nameText.optional(),
  state: z.union([state, z.array(state).min(1)]).optional(),
})

export async function listRuns(on: Executor, filter: RunFilter, page: Page): Promise<Listed<Run>> {
  const { limit, at } = readPage('runs', page, idPlace)
  const { state: given, ...rest } = checkFields(filterSchema, filter)
  const wanted = typeof given === 'string' ? [given] : given
  // A run that plans is stored as created: its root job tells the two apart, and does so below.
  const states = wanted && [...new Set(wanted.map((one) => (one === 'planning' ? 'created' : one)))]
  const stored = JSON.stringify({ ...rest, ...(states ? { states } : {}) })
  const { rows } = await on.query<Run & ListEnd>(sql`
    select ${runColumns}, l.looked, l.looked_until as "lookedUntil", l.next
    from sluice.list_runs(${stored}::jsonb, ${at ?? null}, ${limit}, ${lookRowsMax}) as l
    cross join lateral (select (l.run).*) as r`)
  const { items, end } = splitEnd(rows)
  const runs = items.map(({ looked: _looked, lookedUntil: _until, next: _next, ...run }) => run)
  return {
    items: wanted ? runs.filter((run) => wanted.includes(run.state)) : runs,
    ...endOf('runs', end, wanted !== undefined || (rest.kind !== undefined && rest.owner !== undefined)),
  }
}
