/** What a page of commits leaves behind: its place while the walk goes on, and the cursor when it has ended. */
import { onClient, type TransactionClient } from '@sluice/engine'
import { markGone } from '../commit/commit.ts'
import { moveCursor, readCursor } from '../cursor/cursor.ts'
import type { CommitStep, CommitWalk } from './commit-walk.ts'

/** The cursor moves only when the walk has ended. Somebody else may have taken back what it began with: then the next walk reads everything. */
export async function endOrGoOn(
  tx: TransactionClient,
  {
    collection,
    run,
    id,
    walk,
    step,
    place,
  }: { collection: number; run: number; id: number; walk: CommitWalk; step: CommitStep; place: string | undefined },
): Promise<void> {
  const move = { resource: 'commits' as const, subject: id }
  if (step.type === 'go on') return moveCursor(tx, collection, { ...move, place: place ?? 'under way' }, run)
  if (step.type === 'whole') await markGone(tx, collection, id, run)
  const cursor = await readCursor(onClient(tx), collection, 'commits', id)
  const doubtful = step.type === 'grown' && cursor?.head !== walk.old?.head
  await moveCursor(
    tx,
    collection,
    { ...move, place: null, head: doubtful ? null : walk.head, total: doubtful ? null : step.total },
    run,
  )
}

/** A repository that has no commits any more: whatever was stored is gone, and the next walk reads everything. */
export async function forgetCommits(tx: TransactionClient, collection: number, id: number, run: number): Promise<void> {
  await markGone(tx, collection, id, run)
  await moveCursor(tx, collection, { resource: 'commits', subject: id, place: null, head: null, total: null }, run)
}
