/**
 * Which process is the server of this data folder, if any?
 *
 * PostgreSQL writes its pid into the cluster and beside its socket, and refuses to start while that pid is taken, even by a
 * corpse that nobody reaps or by a stranger who got the number later. `server.json` holds the full identity of the server
 * we started, so we can tell, and only in these two cases remove the files. That is safe: PostgreSQL also looks whether the
 * old server's shared memory is in use, by a key made from the data folder. The server's account can write these files, so
 * root believes a pid only if it belongs to that account. Call this under the lock.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runsAs } from '../folder/account.ts'
import { replaceFile } from '../folder/replace-file.ts'
import { type Identity, identify, isAlive, isTaken, parseIdentity } from '../process/identity.ts'
import type { Site } from '../site.ts'

export function runningServer(site: Site): Identity | undefined {
  const lives = (holder: Identity) => isAlive(holder) && runsAs(site.account, holder.pid)
  const pidFile = join(site.cluster, 'postmaster.pid')
  const server = readHolder(pidFile, site)
  if (server && lives(server)) return server
  for (const file of [pidFile, join(site.socketFolder, '.s.PGSQL.5432.lock')]) {
    const holder = readHolder(file, site)
    if (holder && isTaken(holder.pid) && !lives(holder)) rmSync(file, { force: true })
  }
  return undefined
}

export function recordServer({ dataFolder }: Site, server: Identity): void {
  replaceFile(join(dataFolder, 'server.json'), JSON.stringify(server))
}

function readHolder(file: string, { dataFolder }: Site): Identity | undefined {
  const pid = Number.parseInt(read(file), 10)
  if (!(pid > 0)) return undefined
  const recorded = parseIdentity(read(join(dataFolder, 'server.json')))
  return recorded?.pid === pid ? recorded : identify(pid)
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
