/**
 * A folder for one test, open to every account, gone afterwards together with a local PostgreSQL that somebody who was killed left running in it.
 * As a Vitest fixture: `base.extend<{ cwd: string }>({ cwd: scratchFolder })`.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
export async function scratchFolder({}: object, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-test-')))
  chmodSync(folder, 0o755) // as root, the server runs under another account
  await use(folder)
  killServer(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

/** Only a process that names this very folder. */
function killServer(folder: string): void {
  const note = join(folder, '.sluice', 'postgres', 'cluster', 'postmaster.pid')
  const pid = existsSync(note) ? Number(readFileSync(note, 'utf8').split('\n')[0]) : 0
  const command = `/proc/${pid}/cmdline`
  if (pid > 0 && existsSync(command) && readFileSync(command, 'utf8').includes(folder)) process.kill(pid, 'SIGKILL')
}
