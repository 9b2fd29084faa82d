/**
 * The temporary folder of a test run: in memory, where the machine has such a place.
 *
 * Each test copies the template, about 400 small files, and drops the copy again. ext4 without a journal searches for a free inode past all
 * that were freed in the last seconds, so on such a disk a copy took 250 to 1,000 ms of a core; in memory it takes 25 ms. Nothing is lost by
 * it: tests kill processes, not the machine, and what a process wrote outlives it in memory as well.
 */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A whole run needs about a quarter of it, and it may run twice at once. */
const freeBytesMin = 4 * 2 ** 30

/** Linux has it; a container may have made it too small, or forbidden to execute what lies there. */
export function memoryFolder(folder = '/dev/shm'): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= freeBytesMin && canExecuteIn(folder) ? folder : undefined
  } catch {
    return undefined // not there, or not ours to write
  }
}

/** Some tests copy the binaries of PostgreSQL and start the copy. */
function canExecuteIn(folder: string): boolean {
  const probe = mkdtempSync(join(folder, 'sluice-probe-'))
  try {
    const program = join(probe, 'program')
    writeFileSync(program, '')
    chmodSync(program, 0o700)
    accessSync(program, constants.X_OK) // refused where the mount says noexec
    return true
  } finally {
    rmSync(probe, { recursive: true })
  }
}
