/**
 * A transaction as it is lent: the borrower's statements while it lasts, and a refusal afterwards.
 *
 * Its connection goes on to other transactions. A statement that nobody waited for would land in one of those and share its fate, so all that is under way is
 * waited for, and what comes later is refused. A statement that fails without anybody waiting for it fails the transaction, not the process.
 */
import type pg from 'pg'
import { SluiceError } from '../support/errors.ts'
import type { TransactionClient } from './client.ts'

export async function lend<T>(client: pg.ClientBase, use: (tx: TransactionClient) => Promise<T>): Promise<T> {
  const underWay = new Set<Promise<unknown>>()
  let over = false
  const query = (...words: unknown[]): unknown => {
    if (over) return Promise.reject(new SluiceError('TRANSACTION_OVER'))
    const answer: unknown = Reflect.apply(client.query, client, words)
    if (!(answer instanceof Promise)) return answer
    underWay.add(answer)
    const answered = (): void => void underWay.delete(answer)
    answer.then(answered, answered)
    return answer
  }
  // All else that a client can do, it can.
  const tx = Object.create(client, { query: { value: query } }) as TransactionClient
  try {
    const result = await use(tx)
    while (underWay.size > 0) await Promise.all(underWay)
    return result
  } finally {
    over = true
  }
}
