/**
 * Server holder: a program that uses a local PostgreSQL until it is told to stop, is killed, or loses the test that started
 * it. With an account it gives up root first; its modules are loaded by then, so they may lie where that account cannot go.
 */
import { startLocalPostgres } from '../start-local-postgres.ts'
import type { HolderMessage, HolderOptions } from './hold-server.ts'

const { account, ...options } = JSON.parse(process.argv[2] ?? '') as HolderOptions
const say = (message: HolderMessage) => process.send?.(message)

process.on('disconnect', () => process.exit())
if (account) {
  process.setgroups?.([])
  process.setgid?.(account.gid)
  process.setuid?.(account.uid)
}

try {
  const server = await startLocalPostgres(options)
  const { url, dataFolder, socketFolder, pid, role } = server
  server.onExit((exit) => say({ event: exit.outcome, pid: server.pid }))
  process.on('message', () => void server.stop().then(() => process.disconnect()))
  say({ event: 'started', url, dataFolder, socketFolder, pid, role })
} catch (error) {
  const { code, message } = error as { code: string; message: string }
  say({ event: 'failed', code, message })
}
