/**
 * Account: as whom the server runs.
 *
 * PostgreSQL refuses root. An ordinary user's server runs as that user, and there is no account to choose. Root's server
 * runs as whoever owns the data already, else as `postgres` if the machine has such a user, else as `nobody`. No user is
 * ever added to the machine.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'

export interface Account {
  readonly uid: number
  readonly gid: number
}

export function chooseAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  return ownerOf(cluster) ?? lookUp('postgres') ?? lookUp('nobody')
}

/** Asks the kernel instead of reading mode bits, because parents, groups and access lists all have a say. */
export function canReach(account: Account, folder: string): boolean {
  return spawnSync('test', ['-x', folder], { ...account, cwd: '/' }).status === 0
}

/** Whether a process runs under the account, as far as the system shows it. */
export function runsAs(account: Account | undefined, pid: number): boolean {
  const owner = account && statSync(`/proc/${pid}`, { throwIfNoEntry: false })
  return !owner || owner.uid === account.uid
}

function ownerOf(path: string): Account | undefined {
  const owner = statSync(path, { throwIfNoEntry: false })
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : undefined
}

function lookUp(name: string): Account | undefined {
  const row = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
  const [, , uid, gid] = row?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined
}
