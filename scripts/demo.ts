/**
 * `npm run demo`: the whole thing on one machine. A PostgreSQL, a GitHub with five people in it, `sluice up` three times over, and what can go wrong on purpose.
 * At the end the proof that what was collected is what there is; the exit code says so too. `-- --exit` ends there, otherwise all goes on until Ctrl-C.
 *
 * Everything lives in a temporary folder and is gone afterwards, however the demo ends.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { collectorParts } from '@sluice/collector'
import { createEngine, generateMasterKey, KeyRing, silentLog } from '@sluice/engine'
import { type GithubSim, startGithubSim } from '@sluice/github-sim'
import { startLocalPostgres } from '@sluice/local-postgres'
import { Clerk } from './demo/clerk.ts'
import { Crew } from './demo/crew.ts'
import { floor, latencyMs, leaseMs, limit, people, windowMs } from './demo/people.ts'
import { holds } from './demo/proof.ts'
import { openScreen } from './demo/screen.ts'
import { Stage } from './demo/stage.ts'
import { tellStory } from './demo/story.ts'

const processes = 3
const refreshMs = 250
const exits = process.argv.includes('--exit')

const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort())
// The terminal was closed, or whoever read us has had enough.
process.stdout.on('error', () => ending.abort())
const { signal } = ending

const folder = join(tmpdir(), `sluice-demo-${randomUUID().slice(0, 8)}`)
const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })]
try {
  process.exitCode = await run()
} catch (error) {
  if (!signal.aborted) throw error
  process.exitCode ??= 130
} finally {
  ending.abort()
  for (const close of closers.toReversed()) await close()
}

async function run(): Promise<number> {
  console.log('Starting PostgreSQL and a GitHub in a temporary folder …')
  mkdirSync(folder, { mode: 0o711 }) // as root, the server runs under another account
  const server = await startLocalPostgres({ dataFolder: join(folder, 'postgres') })
  closers.push(() => rmSync(server.socketFolder, { recursive: true, force: true }))
  closers.push(() => server.stop())
  const sim = await startGithubSim({ people: [...people], seed: 1, windowMs, limit, graphqlLimit: limit, latencyMs })
  closers.push(() => sim.stop())
  // Histories are made when they are first asked for, which takes a moment: before the curtain rises.
  for (const { login } of people) sim.world.groundTruth(login)

  const masterKey = generateMasterKey()
  const { open, ...parts } = collectorParts({ github: { baseUrl: sim.url }, daily: false, floor })
  const secrets = KeyRing.fromText(masterKey)
  const engine = createEngine({ ...parts, database: server.url, pools: {}, lead: false, secrets, log: silentLog })
  closers.push(() => engine.stop())
  await engine.migrate()

  const screen = openScreen(process.stdout, process.env)
  closers.push(() => screen.close())
  const words = {
    title: `Sluice · ${processes} processes on PostgreSQL ${server.version}, a GitHub with ${people.length} people`,
    subtitle: `each token may make ${limit} calls in ${windowMs / 1_000} s; a lease is ${leaseMs / 1_000} s`,
  }
  const stage = new Stage({ database: server.url, screen, sim, collector: open(engine), words })
  const env = {
    DATABASE_URL: server.url,
    GITHUB_API_URL: sim.url,
    SLUICE_GITHUB_FLOOR: String(floor),
    SLUICE_COLLECT_DAILY: 'off',
    SLUICE_MASTER_KEY: masterKey,
    SLUICE_LEASE: `${leaseMs}ms`,
    SLUICE_GRACE: '5s',
    SLUICE_LOG_FORMAT: 'json',
  }
  const crew = new Crew(env, folder, (news) => stage.hear(news))
  await stage.open(crew)
  closers.push(() => stage.close())
  closers.push(() => crew.close())
  for (let number = 1; number <= processes; number++) crew.start(number)

  const showing = show(stage)
  closers.push(() => showing)
  await tellStory({ crew, clerk: new Clerk(crew, signal), sim, stage, signal })
  const code = holds(await stage.prove()) ? 0 : 1
  process.exitCode = code
  if (!exits) stage.footer = ['', ...invitation(crew.address, sim)]
  await stage.refresh()
  if (!exits) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  return code
}

async function show(stage: Stage): Promise<void> {
  while (!signal.aborted) {
    await stage.refresh()
    await delay(refreshMs, undefined, { signal }).catch(() => {})
  }
}

function invitation(address: string, sim: GithubSim): string[] {
  return [
    `API and documentation: ${address}/docs`,
    'All of it goes on. In another terminal, try',
    `  curl ${address}/api/leaderboard`,
    `  curl -X POST ${sim.adminUrl}/churn/step`,
    'Ctrl-C ends everything and leaves nothing behind.',
  ]
}
