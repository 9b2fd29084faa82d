/**
 * What was collected, beside what is true. Everything that the token can see is compared, field by field; nothing is sampled.
 *
 * missing: it is there and has no row. duplicated: one GitHub id has two rows. stale: a field differs, or a row counts as there and is gone.
 * falsely deleted: a row says gone, deleted or left, and it is there. unknown: null where only another call a row would tell; REST's lists do not say who closed an issue, nor how many
 * lines a pull request has. What was collected of a repository before it was deleted, blocked or closed to
 * pull requests is kept on purpose and is not compared.
 */
import type { Strategy } from '@sluice/collector'
import type { GroundTruth } from '@sluice/github-sim'
import { answerSheet, type Row } from './answer-sheet.ts'
import { readCollected } from './collected.ts'
import type { Stage } from './stage.ts'

export interface Differences {
  readonly compared: number
  readonly missing: number
  readonly duplicated: number
  readonly stale: number
  readonly falselyDeleted: number
  readonly unknown: number
}

type Fault = Exclude<keyof Differences, 'compared'>

const untoldByRest = new Set(['issue closer', 'pull request additions', 'pull request deletions'])

const toldMax = 12

export async function compare(
  { databaseUrl, strategy }: Pick<Stage, 'databaseUrl' | 'strategy'>,
  userId: number,
  truth: GroundTruth,
): Promise<Differences> {
  const sheet = answerSheet(truth)
  const found = await readCollected(databaseUrl, userId)
  const book = new Book(strategy)
  const hasLeft = ({ state }: Row): boolean => state === 'deleted' || state === 'left'
  book.compare('repository', sheet.repositories, found.repositories, hasLeft)
  for (const [noun, what] of [
    ['commit', 'commits'],
    ['issue', 'issues'],
    ['pull request', 'pulls'],
  ] as const) {
    const wanted = new Set(sheet[what].map(({ key }) => key))
    const within = (row: Row) => wanted.has(row.key) || sheet.readable[what].has(Number(row.repository))
    book.compare(noun, sheet[what], found[what].filter(within), ({ gone }) => gone === true)
  }
  for (const sentence of book.sentences) console.error(`bench: ${truth.profile.login}: ${sentence}`)
  return { compared: book.compared, ...book.counts }
}

export const faultsOf = ({ missing, duplicated, stale, falselyDeleted }: Differences): number =>
  missing + duplicated + stale + falselyDeleted

class Book {
  readonly #strategy: Strategy
  compared = 0
  readonly counts: Record<Fault, number> = { missing: 0, duplicated: 0, stale: 0, falselyDeleted: 0, unknown: 0 }
  readonly sentences: string[] = []

  constructor(strategy: Strategy) {
    this.#strategy = strategy
  }

  compare(noun: string, wanted: readonly Row[], found: readonly Row[], isGone: (row: Row) => boolean): void {
    const rows = this.#byKey(noun, found)
    for (const one of wanted) {
      const [key, name] = [String(one.key), `${noun} ${String(one.key)}`]
      const row = rows.get(key)
      rows.delete(key)
      this.compared += 1
      if (!row) this.#add('missing', name)
      else if (isGone(row)) this.#add('falselyDeleted', name)
      else this.#differ(noun, name, one, row)
    }
    for (const [key, row] of rows) if (!isGone(row)) this.#add('stale', `${noun} ${key} counts as there and is not`)
  }

  #byKey(noun: string, found: readonly Row[]): Map<string, Row> {
    const rows = new Map<string, Row>()
    const ids = new Set<string>()
    for (const row of found) {
      const [key, id] = [String(row.key), String(row.id ?? row.key)]
      if (rows.has(key) || ids.has(id)) this.#add('duplicated', `${noun} ${key}`)
      ids.add(id)
      rows.set(key, row)
    }
    return rows
  }

  #differ(noun: string, name: string, wanted: Row, row: Row): void {
    const different = Object.keys(wanted).filter((field) => wanted[field] !== row[field])
    const isUntold = (field: string) => this.#strategy === 'rest' && row[field] === null && untoldByRest.has(`${noun} ${field}`)
    const fields = different.filter((field) => !isUntold(field))
    if (fields.length < different.length) this.counts.unknown += 1
    const told = fields.map((field) => `${field} is ${String(row[field])} and should be ${String(wanted[field])}`)
    if (fields.length > 0) this.#add('stale', `${name}: ${told.join('; ')}`)
  }

  #add(fault: Fault, sentence: string): void {
    this.counts[fault] += 1
    if (this.sentences.length < toldMax) this.sentences.push(`${fault}: ${sentence}`)
  }
}
