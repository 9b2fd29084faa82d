/**
 * A role from its start to its end: says where it listens and what to do next, and stops in order when told to. A second signal leaves at once: what runs is
 * handed back, and a local PostgreSQL that nobody else uses is taken along.
 */
import { once } from 'node:events'
import { type Config, type Running, type ServedRole, startRole, withoutPassword } from '@sluice/server'
import { exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'
import type { Terminal } from '../terminal/terminal.ts'

export async function runRole(role: ServedRole, { session }: Call): Promise<number> {
  const { output, interrupted } = session
  session.stopsInOrder = true
  const config = await session.config()
  const running = await startRole(role, config, { opening: session.takeAlong })
  session.onEnd(() => running.stop())
  session.handBackWith(() => running.engine.stop({ grace: 0 }))
  if (!interrupted.aborted) {
    output.answer(describe(role, config, running), (terminal) => greet(role, config, running, terminal))
    await once(interrupted, 'abort')
  }
  const { running: jobs } = running.engine.status()
  const leaves = jobs === 0 ? 'A' : `${jobs === 1 ? 'One job' : `${jobs} jobs`} may end within ${String(config.grace)}; a`
  output.say(`Stopping. ${leaves} second signal leaves at once.`)
  await running.stop()
  return exit.ok
}

function describe(role: ServedRole, config: Config, { address, firstKey, database }: Running): object {
  return {
    role,
    pid: process.pid,
    address: address ?? null,
    database: database.local ? null : withoutPassword(database.url),
    local: database.local ? { version: database.local.version, folder: database.local.dataFolder } : null,
    requireKeys: config.requireKeys,
    firstKey: firstKey ?? null,
  }
}

const doing: Readonly<Record<ServedRole, (running: Running) => string>> = {
  up: () => 'is up',
  server: () => 'serves the API',
  worker: () => 'works',
  scheduler: ({ engine }) => (engine.status().leads ? 'leads' : 'stands by to lead'),
}

function greet(role: ServedRole, config: Config, running: Running, terminal: Terminal): string {
  const { address, firstKey, database } = running
  const where = address ? ` on ${terminal.paint('bold', address)}` : ''
  const store = database.local
    ? `PostgreSQL ${database.local.version} in ${database.local.dataFolder}`
    : withoutPassword(database.url)
  const lines = [
    `${terminal.paint('green', 'Sluice')} ${doing[role](running)}${where}, process ${process.pid}`,
    `  data  ${store}`,
  ]
  if (firstKey) lines.push(`  key   ${terminal.paint('bold', firstKey)}`, '        an admin key, shown this once; keep it now')
  if (role === 'worker') lines.push(`  pools ${describePools(config)}`)
  lines.push(...nextSteps(role, address, firstKey), '')
  return lines.join('\n')
}

function describePools({ pools }: Config): string {
  return Object.entries(pools)
    .map(([name, { core, max }]) => (core === max ? `${name} ${core}` : `${name} ${core}–${max}`))
    .join(', ')
}

function nextSteps(role: ServedRole, address: string | undefined, firstKey: string | undefined): string[] {
  if (role === 'worker' || role === 'scheduler') return ['  try   sluice status']
  if (!address) return []
  const key = firstKey ? ' -H "authorization: Bearer $KEY"' : ''
  const body = `'{"kind":"sluice.ping"}'`
  return [`  try   curl ${address}/api/jobs${key} -H 'content-type: application/json' -d ${body}`, `  docs  ${address}/docs`]
}
