/**
 * Shuts the server down: fast (rolls back what is open, writes a checkpoint), and if it does not end, ever harder. Even the
 * last step loses nothing that was acknowledged; it only leaves more to recover.
 */
import { type Identity, isAlive, signal } from '../process/identity.ts'
import { waitUntil } from '../process/wait-until.ts'

export async function shutDown(server: Identity): Promise<void> {
  for (const [name, limitMs] of steps) {
    if (!isAlive(server)) return
    signal(server.pid, name)
    await waitUntil(() => !isAlive(server), limitMs)
  }
}

const steps: [NodeJS.Signals, number][] = [
  ['SIGINT', 60_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 5_000],
]
