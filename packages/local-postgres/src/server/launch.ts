/**
 * Launch: starts `postgres` itself, not through pg_ctl, so that we are its parent and reap it.
 *
 * It must outlive us, because others may be using it: own session, output to a file, working directory `/`. After a crash
 * the old server's last backends may hold its memory for a moment; the new one then gives up at once, and we try again.
 */
import { spawn } from 'node:child_process'
import { closeSync, constants, fchownSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LocalPostgresError } from '../errors.ts'
import { type Identity, identify, isAlive } from '../process/identity.ts'
import { waitUntil } from '../process/wait-until.ts'
import type { Site } from '../site.ts'
import { answers } from './connection.ts'
import { serverEnvironment } from './environment.ts'
import { recordServer, runningServer } from './running.ts'
import { serverArguments } from './settings.ts'
import { shutDown } from './shut-down.ts'

export async function launch(site: Site): Promise<Identity> {
  let failure = ''
  let server: Identity | undefined
  const settled = await waitUntil(async () => {
    const attempt = await startOnce(site)
    server = attempt.server
    failure = attempt.output
    return server !== undefined || !failure.includes('pre-existing shared memory block')
  }, startLimitMs)
  if (server) return server
  const detail = settled ? `it said\n${failure}\n` : `an old server still uses its memory:\n${failure}\n`
  throw failed(site.dataFolder, detail)
}

/** Attaches to the server that runs, waiting for one that is starting or stopping; launches one if there is none. */
export async function attachOrLaunch(site: Site): Promise<{ server: Identity; role: 'attached' | 'started' }> {
  let server = runningServer(site)
  const settled = await waitUntil(async () => {
    server = runningServer(site)
    return server === undefined || (await answers(site.socketFolder))
  }, startLimitMs)
  if (!server) return { server: await launch(site), role: 'started' }
  if (settled) return { server, role: 'attached' }
  const detail = `process ${server.pid} seems to be it but does not answer on ${site.socketFolder}`
  throw failed(site.dataFolder, detail)
}

/** Recovery after a crash replays the log since the last checkpoint, at most a gigabyte. */
const startLimitMs = 120_000
const logLimitBytes = 10_000_000
const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants

async function startOnce(site: Site): Promise<{ server: Identity | undefined; output: string }> {
  const logFile = join(site.dataFolder, 'server.log')
  const before = sizeOf(logFile)
  if (before > logLimitBytes) renameSync(logFile, `${logFile}.old`)
  const server = spawnServer(site, logFile)
  const answered = await waitUntil(async () => !isAlive(server) || (await answers(site.socketFolder)), startLimitMs)
  if (answered && isAlive(server)) return { server, output: '' }
  await shutDown(server)
  const output = readFileSync(logFile).subarray(before > logLimitBytes ? 0 : before)
  return { server: undefined, output: output.toString().trim().split('\n').slice(-20).join('\n') }
}

function spawnServer(site: Site, logFile: string): Identity {
  const { account, binaries, cluster, dataFolder, settings } = site
  const log = openSync(logFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  if (account) fchownSync(log, account.uid, account.gid)
  const child = spawn(join(binaries.bin, 'postgres'), serverArguments(cluster, settings), {
    ...account,
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.on('error', () => {})
  child.unref()
  if (child.pid === undefined) throw failed(dataFolder, `${child.spawnfile} could not be run`)
  const server = identify(child.pid)
  recordServer(site, server)
  return server
}

function failed(folder: string, detail: string): LocalPostgresError {
  return new LocalPostgresError('LOCAL_POSTGRES_START_FAILED', { folder, detail })
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
