/**
 * `sluice worker`, as people start it: the built command on the Node that started the bench, not the one that the peers need. The kernel says how much
 * memory it held at most.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../apps/cli/bin/sluice.js', import.meta.url))

export async function startWorkerCommand(variables: Record<string, string>): Promise<{ stop(): Promise<number> }> {
  const node = process.env.BENCH_NODE ?? process.execPath
  const { SLUICE_BENCH_USERS: _, ...rest } = process.env
  const env = { ...rest, ...variables }
  const worker = spawn(node, [program, 'worker', '--health-port', '0', '--log-level', 'warn', '--json'], {
    stdio: ['ignore', 'pipe', 2],
    env,
  })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  // With --json it says one line when it is ready.
  await Promise.race([new Promise((resolve) => worker.stdout?.once('data', resolve)), ended])
  worker.stdout?.resume()
  if (worker.exitCode !== null) throw new Error('sluice worker ended at once, see above')
  return {
    async stop() {
      const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[1]) / 1024
      worker.kill('SIGTERM')
      await ended
      return peakMb
    },
  }
}
