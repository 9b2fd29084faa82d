/**
 * `npm run demo`: three worker processes on a local PostgreSQL, orders that fan out, tenants with budgets, and what can go wrong on purpose. At the
 * end the proof that nothing was lost, done twice or overdrawn; the exit code says so too. `-- --exit` ends there, otherwise the workers go on until Ctrl-C.
 *
 * Everything lives in a temporary folder and is gone afterwards, however the demo ends.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startLocalPostgres } from '@sluice/local-postgres'
import { Crew } from './demo/crew.ts'
import { leaseMs } from './demo/link.ts'
import { holds } from './demo/proof.ts'
import { openScreen } from './demo/screen.ts'
import { Shop } from './demo/shop.ts'
import { Stage } from './demo/stage.ts'
import { keepGoing, orders, tellStory } from './demo/story.ts'
import { TariffServer } from './demo/tenants.ts'

const workers = 3
const refreshMs = 200
const exits = process.argv.includes('--exit')

const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort())
// The terminal was closed, or whoever read us has had enough.
process.stdout.on('error', () => ending.abort())
const { signal } = ending

const dataFolder = join(tmpdir(), `sluice-demo-${randomUUID().slice(0, 8)}`)
const closers: (() => unknown)[] = [() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 })]
try {
  process.exitCode = await run()
} catch (error) {
  if (!signal.aborted) throw error
  process.exitCode ??= 130
} finally {
  for (const close of closers.toReversed()) await close()
}

async function run(): Promise<number> {
  console.log('Starting PostgreSQL in a temporary folder …')
  const server = await startLocalPostgres({ dataFolder })
  closers.push(() => rmSync(server.socketFolder, { recursive: true, force: true }))
  closers.push(() => server.stop())

  const screen = openScreen(process.stdout, process.env)
  closers.push(() => screen.close())
  const words = {
    title: `Sluice · ${workers} workers on PostgreSQL ${server.version}, lease ${leaseMs / 1_000} s`,
    subtitle: `${orders} orders of 3 to 5 items each, some fail or are delayed; three tenants call a server that limits them`,
  }
  const tariff = new TariffServer()
  await tariff.open()
  closers.push(() => tariff.close())
  const stage = new Stage(server.url, screen, words, orders, tariff)
  const shop = new Shop(server.url)
  closers.push(() => shop.close())
  await shop.open()
  const crew = new Crew(server.url, tariff.url, (news) => stage.hear(news))
  await stage.open(crew)
  closers.push(() => stage.close())
  closers.push(() => crew.close())
  for (let number = 1; number <= workers; number++) crew.start(number)

  const showing = show(stage)
  closers.push(() => showing)
  const cast = { crew, shop, stage, signal }
  await tellStory(cast)
  const proof = await stage.prove()
  process.exitCode = holds(proof) ? 0 : 1
  if (!exits) {
    stage.footer = invitation(server.socketFolder)
    for (const { number, condition } of crew.members) if (condition === 'stopped') crew.start(number)
    await keepGoing(cast)
  }
  await stage.refresh()
  ending.abort()
  return process.exitCode
}

async function show(stage: Stage): Promise<void> {
  while (!signal.aborted) {
    await stage.refresh()
    await delay(refreshMs, undefined, { signal }).catch(() => {})
  }
}

function invitation(socketFolder: string): string[] {
  return [
    '',
    'The workers go on, and an order comes in now and then. In another terminal, try',
    '  kill -9 PID      of a worker; or kill -STOP PID, and kill -CONT PID later',
    `  psql -h ${socketFolder} -U sluice`,
    'Ctrl-C ends everything and leaves nothing behind.',
  ]
}
