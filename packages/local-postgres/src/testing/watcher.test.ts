import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Identity, identify, isAlive, parseIdentity, signal } from '../process/identity.ts'
import { waitUntil } from '../process/wait-until.ts'
import { scratchFolder } from '../scene/scratch-folder.ts'
import { startTestServer } from './test-server.ts'

vi.setConfig({ testTimeout: 60_000 })

const showsProcesses = existsSync('/proc')
/** The server and its watcher. */
const expected = showsProcesses ? 2 : 1
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const

test.each(signals)('[O-02] a test server goes with a process that %s ends, and nothing of it stays', async (name) => {
  const { tester, temporary, processes } = await testCarelessly()
  tester.kill(name)
  expect(await once(tester, 'exit')).toEqual([null, name])
  expect(await isGone(temporary, processes)).toBe(true)
})

test('[O-02] a test server goes with a process that ends by itself without stopping it', async () => {
  const { tester, temporary, processes } = await testCarelessly()
  tester.send('end')
  expect(await once(tester, 'exit')).toEqual([0, null])
  expect(await isGone(temporary, processes)).toBe(true)
})

test('[O-02] a test server goes with its process also when all of its processes are told to end', async () => {
  const { tester, temporary, processes } = await testCarelessly()
  for (const { pid } of processes) signal(pid, 'SIGTERM')
  tester.kill('SIGTERM')
  expect(await isGone(temporary, processes)).toBe(true)
})

test('[O-02] kill -9 while a test server is being made leaves nothing of it', async () => {
  const temporary = scratchFolder()
  const tester = startTester(temporary)
  expect(await waitUntil(() => filesIn(temporary).some((name) => name.includes('pg_wal')), 30_000)).toBe(true)
  const processes = processesOf(temporary)
  tester.kill('SIGKILL')
  expect(await isGone(temporary, processes)).toBe(true)
})

test('[O-02] after stop neither the server nor who watched over it is there', async () => {
  const temporary = scratchFolder()
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const server = await startTestServer()
  const processes = processesOf(temporary)
  expect(processes.filter(isAlive)).toHaveLength(expected)
  await server.stop()
  expect(readdirSync(temporary)).toEqual([])
  expect(processes.filter(isAlive)).toEqual([])
})

/** A process with a test server that it will not stop; its temporary folder, in which everything of the server is; and the server's processes. */
async function testCarelessly(): Promise<{ tester: ChildProcess; temporary: string; processes: Identity[] }> {
  const temporary = scratchFolder()
  const tester = startTester(temporary)
  await once(tester, 'message')
  const processes = processesOf(temporary)
  expect(processes.filter(isAlive)).toHaveLength(expected)
  return { tester, temporary, processes }
}

function startTester(temporary: string): ChildProcess {
  const program = fileURLToPath(new URL('../../dist/scene/careless-tester.js', import.meta.url))
  const tester = fork(program, { execArgv: [], env: { ...process.env, TMPDIR: temporary } })
  onTestFinished(() => void tester.kill('SIGKILL'))
  return tester
}

function isGone(temporary: string, processes: Identity[]): Promise<boolean> {
  return waitUntil(() => readdirSync(temporary).length === 0 && !processes.some(isAlive), 30_000)
}

/** The server that is on record, and, where the system shows it, everybody who was given a folder in there to work on. */
function processesOf(temporary: string): Identity[] {
  const records = filesIn(temporary).filter((name) => name.endsWith('server.json'))
  const servers = records.flatMap((name) => parseIdentity(readFileSync(join(temporary, name), 'utf8')) ?? [])
  const others = showsProcesses ? readdirSync('/proc').filter((pid) => names(pid, temporary)) : []
  return [...new Map([...servers, ...others.map((pid) => identify(Number(pid)))].map((found) => [found.pid, found])).values()]
}

function names(pid: string, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
  } catch {
    return false
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}
