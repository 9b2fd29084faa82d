/**
 * Cluster: makes the server's files with initdb, once.
 *
 * initdb works in a draft folder that is renamed when complete, so an interrupted one leaves nothing that looks like data;
 * the next start clears it away. Anyone who can enter the socket's folder is trusted; connections over a network are
 * refused even if somebody turns listening on. Text sorts by code point and folds case by Unicode, the same on every
 * machine. Call this under the lock.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LocalPostgresError } from '../errors.ts'
import { makePrivate } from '../folder/data-folder.ts'
import type { Site } from '../site.ts'
import { serverEnvironment } from './environment.ts'

export async function ensureCluster(site: Site): Promise<void> {
  if (existsSync(site.cluster)) return checkVersion(site)
  for (const name of readdirSync(site.dataFolder)) if (name.startsWith('cluster.')) discard(join(site.dataFolder, name))
  const draft = join(site.dataFolder, `cluster.${randomUUID()}`)
  mkdirSync(draft)
  makePrivate(draft, site.account)
  await runInitdb(site, draft)
  renameSync(draft, site.cluster)
  syncFolder(site.dataFolder)
}

function checkVersion({ cluster, dataFolder, binaries }: Site): void {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (found === binaries.major) return
  throw new LocalPostgresError('LOCAL_POSTGRES_WRONG_VERSION', { folder: dataFolder, found, expected: binaries.major })
}

async function runInitdb({ account, binaries, dataFolder, settings }: Site, folder: string): Promise<void> {
  const flags = ['-D', folder, '-U', 'sluice', '--auth-local=trust', '--auth-host=reject', '--encoding=UTF8', '--locale=C']
  if (Number(binaries.major) >= 17) flags.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  if (settings.fsync === 'off') flags.push('--no-sync')
  try {
    await promisify(execFile)(join(binaries.bin, 'initdb'), flags, { ...account, cwd: '/', env: serverEnvironment() })
  } catch (error) {
    discard(folder)
    const detail = `initdb failed: ${(error as { stderr?: string }).stderr?.trim() || (error as Error).message}`
    throw new LocalPostgresError('LOCAL_POSTGRES_START_FAILED', { folder: dataFolder, detail }, error)
  }
}

/** An initdb whose starter was killed may still be writing in its draft; what cannot be removed now goes next time. */
function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch {}
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
