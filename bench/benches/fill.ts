/**
 * Readies a prepared place for a measurement: jobs and statistics. Done by the process that runs the bench, so that the process
 * that is measured starts with a clean heap.
 */
import { contenderNamed } from '../contenders/roster.ts'
import type { FreshPlace } from '../ground.ts'
import { inBulk } from '../roles/enqueue.ts'

export async function fill(name: string, place: FreshPlace, jobs: number): Promise<void> {
  const contender = await contenderNamed(name)
  const session = contender.open(place)
  await session.connect()
  await inBulk(contender, session, 0, jobs)
  await session.close()
  await place.settle()
}
