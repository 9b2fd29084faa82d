/**
 * A transaction as it is lent: the borrower's statements while it lasts, and a refusal afterwards.
 *
 * Its connection goes on to other transactions. A statement that nobody waited for would land in one of those and share its fate, so all that is under way is
 * waited for, and what comes later is refused. A statement that fails without anybody waiting for it fails the transaction, not the process. When the
 * connection ends, so does the loan, whatever the borrower still waits for.
 *
 * Whoever lends it commits it, together with the rest. So statements that would end it are refused, and so are those that would leave something behind on the
 * connection; one that ended it in disguise, behind another or in a procedure, fails it.
 */
import type pg from 'pg'
import { SluiceError } from '../support/errors.ts'
import type { TransactionClient } from './client.ts'

/** For a user's own: what to do in the transaction. */
export function lending<T>(act: (tx: TransactionClient) => Promise<T>): (lent: { client: pg.ClientBase }) => Promise<T> {
  if (typeof act === 'function') return ({ client }) => lend(client, act)
  throw new SluiceError('INVALID_OPTION', {
    field: 'transaction',
    problem: 'takes a function of what to do in it, as in async (tx) => { … }',
  })
}

export async function lend<T>(client: pg.ClientBase, use: (tx: TransactionClient) => Promise<T>): Promise<T> {
  const underWay = new Set<Promise<unknown>>()
  let over = false
  let lost: SluiceError | undefined
  let failed: Error | undefined
  const query = (...words: unknown[]): unknown => {
    if (over) return Promise.reject(new SluiceError('TRANSACTION_OVER'))
    const refusal = refusalOf(words[0])
    if (refusal) return Promise.reject(refusal)
    const sent: unknown = Reflect.apply(client.query, client, words)
    if (!(sent instanceof Promise)) return sent
    const answer = sent.then((result: unknown) => {
      if (client.getTransactionStatus() === 'I' || hasBegun(result)) lost ??= notYours('a statement that ends it', endings)
      if (lost) throw lost
      return result
    })
    underWay.add(answer)
    const answered = (): void => void underWay.delete(answer)
    answer.then(answered, (error: Error) => {
      failed ??= error
      raisedOn.set(error, client)
      answered()
    })
    return answer
  }
  // All else that a client can do, it can.
  const tx = Object.create(client, { query: { value: query } }) as TransactionClient
  let breakOff = (_reason: Error): void => {}
  const broken = new Promise<never>((_, reject) => void (breakOff = reject))
  const ended = (): void => breakOff(new Error('Connection terminated'))
  client.on('error', breakOff)
  client.on('end', ended)
  try {
    const result = await Promise.race([use(tx), broken])
    while (underWay.size > 0) await Promise.race([Promise.all(underWay), broken])
    if (lost) throw lost // also where the borrower has caught it
    if (failed !== undefined && (await isAborted(client))) throw failed // a commit would roll back, and not say so
    return result
  } finally {
    over = true
    client.off('error', breakOff)
    client.off('end', ended)
  }
}

/** An error comes before the word on what became of the transaction; behind an empty statement that is known. */
async function isAborted(client: pg.ClientBase): Promise<boolean> {
  await client.query('')
  return client.getTransactionStatus() === 'E'
}

const raisedOn = new WeakMap<Error, pg.ClientBase>()

/** It is the word of this server, and was not brought from elsewhere. */
export function isRaisedOn(client: pg.ClientBase, error: unknown): boolean {
  return error instanceof Error && raisedOn.get(error) === client
}

const comments = String.raw`(?:\s|--[^\n]*\n|/\*[^]*?\*/)*`
const ending = new RegExp(
  String.raw`^${comments}(begin|start\s+transaction|commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)|prepare\s+transaction)\b`,
  'i',
)
const staying = new RegExp(
  String.raw`^${comments}(set\s+(?!local\b|constraints\b|transaction\b)\w+|discard|deallocate|listen)\b`,
  'i',
)
const endings = 'the engine commits when you return and rolls back when you throw. Leave it out; savepoints are yours'
const remains = 'it would outlive the transaction, on a connection that others get. Write "set local", or leave it out'

function refusalOf(statement: unknown): SluiceError | undefined {
  const text = typeof statement === 'string' ? statement : (statement as { text?: unknown } | undefined)?.text
  if (typeof text !== 'string') return undefined
  const end = ending.exec(text)?.[1]
  if (end) return notYours(`"${end}"`, endings)
  const rest = staying.exec(text)?.[1]
  return rest ? notYours(`"${rest}"`, remains) : undefined
}

/** Several statements in one text: the transaction in which the last one ran may be another than that of the first. */
function hasBegun(result: unknown): boolean {
  return Array.isArray(result) && result.some(({ command }: { command?: unknown }) => command === 'BEGIN' || command === 'COMMIT')
}

function notYours(statement: string, problem: string): SluiceError {
  return new SluiceError('TRANSACTION_NOT_YOURS', { statement, problem })
}
