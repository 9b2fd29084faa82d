/**
 * What was collected, beside what is true. Everything that the token can see is compared, field by field; nothing is sampled.
 *
 * missing: it is there and has no row. duplicated: one GitHub id has two rows. stale: a field differs, or the row counts as there and is gone.
 * falsely deleted: the row says gone, deleted or left, and it is there.
 */
import { within } from '../../servers/postgres.ts'
import type { Truth, TrueRepository } from './truth.ts'

export interface Differences {
  readonly compared: number
  readonly missing: number
  readonly duplicated: number
  readonly stale: number
  readonly falselyDeleted: number
}

type Fault = 'missing' | 'duplicated' | 'stale' | 'falselyDeleted'
type Row = Readonly<Record<string, unknown>>

interface Collected {
  readonly repositories: Row[]
  readonly commits: Row[]
  readonly issues: Row[]
  readonly pulls: Row[]
}

const toldMax = 12

export async function compare(databaseUrl: string, userId: number, truth: Truth): Promise<Differences> {
  const found = await readCollected(databaseUrl, userId)
  const book = new Book()
  const listed = new Map(truth.repositories.map((one) => [one.id, one]))
  compareRepositories(book, truth.repositories, found.repositories)
  const readable = truth.repositories.filter(({ state }) => state === 'active')
  compareRows(book, 'commit', readable.flatMap(trueCommits), found.commits.filter(inside(readable)), ({ gone }) => gone === true)
  const withIssues = readable.filter(({ hasIssues }) => hasIssues)
  compareRows(book, 'issue', withIssues.flatMap(trueIssues), found.issues.filter(inside(withIssues)))
  const withPulls = readable.filter(({ hasPullRequests }) => hasPullRequests)
  const pulls = new Map([...withPulls.flatMap(truePulls), ...truth.ownPulls.map(truePull)].map((row) => [row.key, row]))
  const own = (row: Row) => row.author === truth.profile.id && !listed.has(Number(row.repository))
  const countedPulls = found.pulls.filter((row) => inside(withPulls)(row) || (own(row) && pulls.has(String(row.key))))
  compareRows(book, 'pull request', [...pulls.values()], countedPulls)
  for (const sentence of book.sentences) console.error(`bench: ${sentence}`)
  return { compared: book.compared, ...book.counts }
}

class Book {
  compared = 0
  readonly counts: Record<Fault, number> = { missing: 0, duplicated: 0, stale: 0, falselyDeleted: 0 }
  readonly sentences: string[] = []

  add(fault: Fault, sentence: string): void {
    this.counts[fault] += 1
    if (this.sentences.length < toldMax) this.sentences.push(`${fault}: ${sentence}`)
  }
}

/** Deleted, left or blocked repositories keep what was collected of them; only their state is compared. */
function compareRepositories(book: Book, wanted: readonly TrueRepository[], found: readonly Row[]): void {
  const rows = byKey(book, 'repository', found)
  for (const one of wanted) {
    book.compared += 1
    const row = rows.get(String(one.id))
    if (!row) book.add('missing', `repository ${one.id}`)
    else if (row.state === 'deleted' || row.state === 'left') book.add('falselyDeleted', `repository ${one.id} is ${row.state}`)
    else differ(book, `repository ${one.id}`, trueRepository(one), row)
  }
  const there = new Set(wanted.map(({ id }) => String(id)))
  for (const [key, row] of rows)
    if (!there.has(key) && row.state !== 'deleted' && row.state !== 'left')
      book.add('stale', `repository ${key} counts as ${String(row.state)} and cannot be seen any more`)
}

function compareRows(
  book: Book,
  noun: string,
  wanted: readonly Row[],
  found: readonly Row[],
  isGone: (row: Row) => boolean = () => false,
): void {
  const rows = byKey(book, noun, found)
  for (const one of wanted) {
    book.compared += 1
    const row = rows.get(String(one.key))
    rows.delete(String(one.key))
    if (!row) book.add('missing', `${noun} ${String(one.key)}`)
    else if (isGone(row)) book.add('falselyDeleted', `${noun} ${String(one.key)}`)
    else differ(book, `${noun} ${String(one.key)}`, one, row)
  }
  for (const [key, row] of rows) if (!isGone(row)) book.add('stale', `${noun} ${key} counts as there and is not`)
}

function byKey(book: Book, noun: string, found: readonly Row[]): Map<string, Row> {
  const rows = new Map<string, Row>()
  const ids = new Set<string>()
  for (const row of found) {
    const [key, id] = [String(row.key), String(row.id ?? row.key)]
    if (rows.has(key) || ids.has(id)) book.add('duplicated', `${noun} ${key}`)
    ids.add(id)
    rows.set(key, row)
  }
  return rows
}

function differ(book: Book, name: string, wanted: Row, row: Row): void {
  const fields = Object.keys(wanted).filter((field) => wanted[field] !== row[field])
  if (fields.length > 0)
    book.add('stale', `${name}: ${fields.map((field) => `${field} ${String(row[field])}, is ${String(wanted[field])}`).join('; ')}`)
}

const inside = (repositories: readonly TrueRepository[]) => {
  const ids = new Set(repositories.map(({ id }) => id))
  return (row: Row) => ids.has(Number(row.repository))
}
