/**
 * Lock: one process at a time may make, start or stop the server of a data folder.
 *
 * Node has no flock, and a single lock file cannot be taken over safely: two processes that both saw a dead holder would
 * delete each other's new lock. So holders draw rising numbers, `lock.7` after `lock.6`. The highest number counts; it is
 * free when its file says so or its holder is dead; the next number is drawn with `link`, which only one process can do
 * and which makes the file complete at once. Only a holder deletes files, and only lower numbers, so the highest never
 * falls: a latecomer who drew an old number sees a higher one and steps back.
 */
import { linkSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LocalPostgresError } from '../errors.ts'
import { replaceFile, writeDraft } from '../folder/replace-file.ts'
import { type Identity, identify, isAlive, parseIdentity } from './identity.ts'
import { waitUntil } from './wait-until.ts'

export async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const held = await takeLock(folder)
  try {
    return await work()
  } finally {
    replaceFile(join(folder, `lock.${held}`), 'free')
  }
}

/** Longer than the longest start, so that whoever waits outlasts a recovery after a crash. */
const lockLimitMs = 600_000

async function takeLock(folder: string): Promise<number> {
  let held: number | undefined
  const taken = await waitUntil(() => {
    held = draw(folder)
    return held !== undefined
  }, lockLimitMs)
  if (!taken || held === undefined) {
    const detail = `another process has held ${folder}/lock.${highest(folder)} for ${lockLimitMs / 1000} s`
    throw new LocalPostgresError('LOCAL_POSTGRES_START_FAILED', { folder, detail })
  }
  return held
}

function draw(folder: string): number | undefined {
  const last = highest(folder)
  if (last > 0 && isHeld(join(folder, `lock.${last}`))) return undefined
  const mine = last + 1
  if (!create(join(folder, `lock.${mine}`), identify(process.pid))) return undefined
  if (highest(folder) > mine) {
    rmSync(join(folder, `lock.${mine}`), { force: true })
    return undefined
  }
  for (const lower of numbers(folder).filter((number) => number < mine)) rmSync(join(folder, `lock.${lower}`), { force: true })
  return mine
}

/** A file that has gone since it was listed made way for a higher number: look again. */
function isHeld(file: string): boolean {
  try {
    return isAlive(parseIdentity(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw error
  }
}

function create(file: string, holder: Identity): boolean {
  const draft = writeDraft(dirname(file), JSON.stringify(holder))
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function highest(folder: string): number {
  return Math.max(0, ...numbers(folder))
}

function numbers(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
}
