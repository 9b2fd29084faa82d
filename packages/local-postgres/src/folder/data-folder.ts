/**
 * Data folder: where everything of one server is kept.
 *
 *   cluster/       what initdb made
 *   socket/        the Unix socket, or `socket-folder` with its place when this path is too long for one
 *   users/ lock.N  who uses the server, who is changing it
 *   server.json    which process the server is
 *   server.log     what it says
 *   moved-to       only as root: the data is there, not here
 *
 * Root's server runs under another account, which cannot pass a parent of mode 700 such as root's home. Then the data goes to a
 * system location derived from the requested path. The note `moved-to` is obeyed from then on, so that a later change of
 * modes never makes the data look empty. The folder itself stays root's, so that the account, which may be `nobody`, can
 * plant nothing among the files that root writes; only the cluster and the socket are the account's.
 */
import { createHash } from 'node:crypto'
import { accessSync, chmodSync, chownSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LocalPostgresError } from '../errors.ts'
import { type Account, canReach, chooseAccount } from './account.ts'
import { replaceFile } from './replace-file.ts'

export interface DataFolder {
  readonly folder: string
  readonly account: Account | undefined
}

export function openDataFolder(requested: string, systemFolder: string): DataFolder {
  const asked = resolve(requested)
  const isNew = make(asked)
  const folder = followNote(asked)
  const account = chooseAccount(join(folder, 'cluster'))
  if (isNew) chmodSync(asked, account ? 0o711 : 0o700)
  if (!account || canReach(account, folder)) return { folder: checkWritable(folder), account }
  if (existsSync(join(folder, 'cluster'))) throw unusable(folder, `uid ${account.uid}, which owns the data, cannot enter it`)
  return { folder: moveAway(asked, systemFolder, account), account }
}

export function makePrivate(folder: string, account: Account | undefined): string {
  if (account) chownSync(folder, account.uid, account.gid)
  chmodSync(folder, 0o700)
  return folder
}

function moveAway(asked: string, systemFolder: string, account: Account): string {
  const folder = join(systemFolder, createHash('sha256').update(asked).digest('hex').slice(0, 16))
  if (make(systemFolder)) chmodSync(systemFolder, 0o755)
  if (make(folder)) chmodSync(folder, 0o711)
  if (!canReach(account, folder)) throw unusable(folder, `uid ${account.uid} cannot enter it`)
  replaceFile(join(asked, 'moved-to'), `${folder}\n`)
  return folder
}

function followNote(asked: string): string {
  const note = join(asked, 'moved-to')
  return existsSync(note) ? readFileSync(note, 'utf8').trim() : asked
}

function make(folder: string): boolean {
  return mkdirSync(folder, { recursive: true }) !== undefined
}

function checkWritable(folder: string): string {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  return folder
}

function unusable(folder: string, detail: string): LocalPostgresError {
  return new LocalPostgresError('LOCAL_POSTGRES_FOLDER', { folder, detail })
}
