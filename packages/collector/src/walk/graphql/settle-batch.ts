/**
 * How a call for several lists ends: each list that was read says what to write and what comes next, and all of it commits together. One that is gone or
 * closed to this token concerns that repository only; one that had trouble is asked again alone, where its attempts are counted.
 */
import { done, type JobContext, type JobRequest, type Outcome, retry, type TransactionClient } from '@sluice/engine'
import { changeRepositoryState } from '../../repository/repository.ts'
import { verifyRequest } from '../verify-request.ts'
import type { ListItem, Part } from './batch.ts'

export interface Read {
  readonly write?: (tx: TransactionClient) => Promise<unknown>
  readonly next?: readonly JobRequest[]
}

export async function settleBatch<I extends ListItem, T>(
  job: JobContext<{ readonly collection: number; readonly run: number; readonly items: readonly I[] }>,
  parts: readonly Part<T>[],
  read: (item: I, data: T) => Promise<Read>,
  alone: (item: I) => JobRequest,
): Promise<Outcome> {
  const { collection, run, items } = job.payload
  const ends: Read[] = []
  // In the order in which everybody locks rows: the user's own pull requests are stored by another page, across repositories.
  for (const [at, item] of [...items.entries()].toSorted(([, one], [, other]) => one.id - other.id)) {
    const part = parts[at] as Part<T>
    switch (part.type) {
      case 'read':
        ends.push(await read(item, part.data))
        break
      case 'gone':
        ends.push({ next: [verifyRequest({ collection, run, id: item.id }, job)] })
        break
      case 'forbidden':
        ends.push({ write: (tx) => changeRepositoryState(tx, collection, item.id, 'forbidden', part.reason) })
        break
      case 'trouble':
        if (items.length === 1) return retry({ error: new Error(part.reason) })
        ends.push({ next: [alone(item)] })
    }
  }
  return done({
    write: async (tx) => {
      for (const { write } of ends) await write?.(tx)
    },
    next: ends.flatMap(({ next = [] }) => next),
  })
}
