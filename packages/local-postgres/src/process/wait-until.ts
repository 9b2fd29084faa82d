/**
 * Waits for something outside this process that sends no signal: a file of another process, a socket that is not there
 * yet, the end of a process that is not our child. Says whether it came before the limit.
 */
import { setTimeout as delay } from 'node:timers/promises'

export async function waitUntil(check: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs
  while (!(await check())) {
    if (performance.now() > deadline) return false
    await delay(20)
  }
  return true
}
