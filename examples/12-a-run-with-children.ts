/**
 * A run: a tree of jobs with one start and one completion.
 *
 * `plan` is its first job and says what the run consists of; each job may add children. When everything else has ended, well or not,
 * `finalize` runs once and learns how. The counts change in the transactions that end the jobs, so it is exactly once, also when the last two
 * jobs end at the same moment on two machines.
 */
import { createEngine, defineKind, defineRun, done, fail, once } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import { z } from 'zod'

const readChapter = defineKind('chapter.read', {
  payload: z.object({ book: z.string(), chapter: z.int() }),
  retry: once,
  run({ payload: { book, chapter } }) {
    if (chapter === 3) return fail(new Error(`chapter 3 of ${book} is missing`))
    return done()
  },
})

const openBook = defineKind('book.open', {
  payload: z.object({ book: z.string() }),
  run: ({ payload: { book } }) => done({ next: [1, 2, 3].map((chapter) => readChapter({ book, chapter })) }),
})

const readShelf = defineRun('shelf.read', {
  payload: z.object({ books: z.array(z.string()) }),
  plan: ({ payload }) => done({ next: payload.books.map((book) => openBook({ book })) }),
  finalize({ payload: { total, succeeded, failed } }) {
    console.log(`finalizer: ${total} jobs, ${succeeded} succeeded, ${failed} failed`)
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [openBook, readChapter], runs: [readShelf] })

const shelf = readShelf({ books: ['Emma', 'Middlemarch'] }, { owner: 'ada' })
const { id } = await engine.runs.start(shelf)
// One of a kind and owner at a time.
await engine.runs.start(shelf).catch((error: Error) => console.log(error.message.replace(/run \d+/, 'run N')))

await engine.start()
const run = await engine.runs.ended(id) // in whichever process its jobs run
console.log(`the run is ${run.state}`)
const dead = await engine.inspect.jobs({ run: id, state: ['failed'] })
console.log(`dead jobs of it that can be retried or discarded: ${dead.items.length}`)

await engine.stop()
await database.stop()
