/**
 * The master key as a file that only its owner reads: made on the first start, refused when its mode lets others in.
 *
 * A new file is written beside, brought to the disk, and then linked to its name, which fails if somebody was faster: of two processes that start at once one
 * makes the key, and the other finds it whole. It is on the disk before anything is sealed with it, since what is sealed with a lost key is lost.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SluiceError } from '../support/errors.ts'
import { generateMasterKey, readMasterKeys } from './master-key.ts'

const bytesMax = 10_000
const ownerOnly = 0o600

/** What is in it; nothing if there is no such file. */
export async function readMasterKeyFile(file: string): Promise<string | undefined> {
  // Without waiting: a pipe of that name would let us stand here for ever.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw unusable(file, 'cannot be read', error)
  })
  if (!handle) return undefined
  try {
    // Looked at through the handle: a file that is swapped meanwhile is not the one that was judged.
    const stats = await handle.stat()
    const { mode, size } = stats
    if (!stats.isFile()) throw unusable(file, 'is no file')
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw unusable(file, `can be read by others (mode ${(mode & 0o777).toString(8)}); run chmod 600 on it`)
    if (size > bytesMax) throw unusable(file, `has ${size} bytes, which is no master key`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** What is in it afterwards: a new key, or that of whoever was faster. */
export async function createMasterKeyFile(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw unusable(file, 'cannot be made', error)
  })
  const draft = await writeDraft(file, `${generateMasterKey()}\n`)
  try {
    await link(draft, file).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw unusable(file, 'cannot be made', error)
    })
    await syncFolder(file)
  } finally {
    await rm(draft, { force: true })
  }
  const text = await readMasterKeyFile(file)
  if (text === undefined) throw unusable(file, 'was removed at the moment it was made')
  return text
}

/** Puts a new key before those of the file, so that it seals from the next start on. The others stay, so that what they sealed opens. */
export async function addMasterKey(file: string): Promise<void> {
  const text = await readMasterKeyFile(file)
  if (text === undefined) throw unusable(file, 'does not exist')
  readMasterKeys(text, file)
  const draft = await writeDraft(file, `${generateMasterKey()}\n${text}`)
  await rename(draft, file)
  await syncFolder(file)
}

async function writeDraft(file: string, text: string): Promise<string> {
  const draft = `${file}.${randomUUID()}`
  const handle = await open(draft, 'wx', ownerOnly).catch((error: unknown) => {
    throw unusable(file, 'cannot be made', error)
  })
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return draft
}

async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return // where folders cannot be opened
  const folder = await open(dirname(file), constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function unusable(file: string, problem: string, cause?: unknown): SluiceError {
  return new SluiceError('MASTER_KEY_INVALID', { source: file, problem }, cause)
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
