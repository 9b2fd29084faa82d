/**
 * Socket folder: the door to the server, and its only lock. Whoever can enter this folder (mode 700) is the superuser.
 *
 * The kernel allows about a hundred bytes for the path of a socket. A deeper data folder gets a short folder with a random
 * name in the temporary directory, noted in the data folder for those who attach later. A noted folder that has gone, or
 * that somebody else made in its place, is replaced. Call this under the lock.
 */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { makePrivate } from './data-folder.ts'
import { replaceFile } from './replace-file.ts'

export function openSocketFolder(dataFolder: string, account: Account | undefined): string {
  const inside = join(dataFolder, 'socket')
  if (fits(inside)) {
    mkdirSync(inside, { recursive: true })
    return makePrivate(inside, account)
  }
  const note = join(dataFolder, 'socket-folder')
  const noted = existsSync(note) ? readFileSync(note, 'utf8').trim() : undefined
  if (noted && isOurs(noted, account)) return noted
  const short = [tmpdir(), '/tmp'].find((parent) => fits(join(parent, 'sluice-xxxxxx'))) ?? '/tmp'
  const made = makePrivate(mkdtempSync(join(short, 'sluice-')), account)
  replaceFile(note, `${made}\n`)
  return made
}

export function socketUrl(socketFolder: string, database: string): string {
  return `postgresql://sluice@localhost:5432/${database}?host=${encodeURIComponent(socketFolder)}`
}

/** 107 bytes on Linux, 103 on macOS; the server's lock file beside the socket has the longest name. */
function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, '.s.PGSQL.5432.lock')) <= 103
}

function isOurs(folder: string, account: Account | undefined): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return (
    found !== undefined && found.isDirectory() && found.uid === (account?.uid ?? process.getuid?.()) && (found.mode & 0o77) === 0
  )
}
