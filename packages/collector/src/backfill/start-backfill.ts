/** Begins a backfill, one of a user at a time. */
import { type Engine, SluiceError } from '@sluice/engine'
import type { BackfillRange } from '../collector.ts'
import { CollectorError } from '../errors.ts'
import { ownerOf, runNames } from '../request/run-names.ts'
import { backfill } from './backfill.ts'
import { countSlices } from './slices.ts'

/** Two years of hours. */
const slicesMax = 17_568

export async function startBackfill(
  engine: Engine,
  userId: number,
  { from, to, slice }: BackfillRange,
): Promise<{ run: number }> {
  const refuse = (field: string, problem: string) => new CollectorError('INVALID_REQUEST', { field, problem })
  if (!(from instanceof Date && to instanceof Date && from < to)) throw refuse('to', 'must be a time after `from`')
  if (slice !== 'day' && slice !== 'hour') throw refuse('slice', 'must be day or hour')
  const slices = countSlices({ from, to }, slice)
  if (slices > slicesMax)
    throw refuse('slice', `${slices} slices are too many: at most ${slicesMax}. Take days instead of hours, or a shorter stretch`)
  const wanted = backfill({ userId, from: from.toISOString(), to: to.toISOString(), slice }, { owner: ownerOf(userId) })
  try {
    const { id } = await engine.runs.start(wanted)
    return { run: id }
  } catch (error) {
    if (!(error instanceof SluiceError && error.code === 'RUN_ACTIVE')) throw error
    const { items } = await engine.inspect.runs({ kind: runNames.backfill, owner: ownerOf(userId) }, { limit: 1 })
    throw new CollectorError('COLLECTION_ACTIVE', { user: userId, run: items[0]?.id }, error)
  }
}
