/**
 * Watcher: a program that outlives the process of a test server, to end the server and remove its folders after it.
 *
 * Only a process that is left over can see the end of another that is killed, and it sees it at once: standard input is a
 * pipe from that process, which the kernel closes whichever way it ends. Nothing else ends the watcher, so that a signal to
 * a whole tree of processes leaves it its work. Its arguments are the folders, the data folder first.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { parseIdentity } from '../process/identity.ts'
import { waitUntil } from '../process/wait-until.ts'
import { shutDown } from '../server/shut-down.ts'

for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(name, () => {})

const folders = process.argv.slice(2)
const [dataFolder = ''] = folders
const areThere = () => folders.some((folder) => existsSync(folder))

await finished(process.stdin.resume(), { writable: false }).catch(() => {})

let removed: boolean
do {
  await endServer()
  removed = await waitUntil(remove, 10_000)
  // An initdb or a server that had only begun may make its folder again.
} while (removed && (await waitUntil(areThere, 1_000)))

async function endServer(): Promise<void> {
  const kept = join(dataFolder, 'server.json')
  const server = existsSync(kept) ? parseIdentity(readFileSync(kept, 'utf8')) : undefined
  if (server) await shutDown(server)
}

/** Says whether all are gone: where somebody still writes, some are not at the first try. */
function remove(): boolean {
  try {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  } catch {}
  return !areThere()
}
