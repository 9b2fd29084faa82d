/**
 * Identity: which process is meant, and is it still there?
 *
 * A pid alone lies twice. It is given to a stranger after its owner died, so on Linux the boot and the start time are part
 * of the identity. And it stays taken by a corpse when process 1 does not reap (many containers): a zombie is dead here.
 * Elsewhere the pid has to do.
 */
import { readFileSync } from 'node:fs'

export interface Identity {
  readonly pid: number
  readonly started?: string
}

export function identify(pid: number): Identity {
  const seen = readStat(pid)
  return seen ? { pid, started: seen.started } : { pid }
}

/** Reads an identity that was kept in a file. A file that a power cut left empty or torn names nobody. */
export function parseIdentity(text: string): Identity | undefined {
  try {
    const kept = JSON.parse(text) as Partial<Identity> | null
    return kept?.pid ? (kept as Identity) : undefined
  } catch {
    return undefined
  }
}

export function isAlive(identity: Identity | undefined): boolean {
  if (!identity) return false
  const seen = readStat(identity.pid)
  if (!seen) return isTaken(identity.pid)
  const isSame = identity.started === undefined || identity.started === seen.started
  return isSame && seen.state !== 'Z' && seen.state !== 'X'
}

/** Whether the number is in the process table at all, corpse or stranger included. EPERM means somebody else's process. */
export function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The command's name may hold spaces and brackets, so fields are counted from the last bracket: state is 3rd, start time 22nd. */
function readStat(pid: number): { state: string | undefined; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], started: `${bootId()}/${fields[19]}` }
  } catch {
    return undefined
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}
