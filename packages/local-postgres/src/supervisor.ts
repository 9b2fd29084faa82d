/**
 * Supervisor: watches the server and brings it back when it dies.
 *
 * Every user of the server has one, because the process that started it may be gone. Whoever notices first takes the lock
 * and starts it; the others then find it running. Only the starter would get a signal from the kernel, so all look at the
 * process table four times a second, which costs one read of a small file.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { LocalPostgresError } from './errors.ts'
import { type Identity, isAlive } from './process/identity.ts'
import { withLock } from './process/lock.ts'
import { decideRestart, maxDeaths, windowMs } from './restart-budget.ts'
import { attachOrLaunch } from './server/launch.ts'
import type { Site } from './site.ts'

export interface Supervisor {
  readonly server: Identity
  stop(): void
}

export type ServerExit = { outcome: 'restarted'; pid: number } | { outcome: 'gave up'; error: LocalPostgresError }

export function supervise(site: Site, first: Identity, tell: (exit: ServerExit) => void): Supervisor {
  let server = first
  let stopped = false
  let busy = false
  let trouble = 'it ended'
  const deaths: number[] = []
  const timer = setInterval(() => {
    if (!busy && !isAlive(server)) void revive()
  }, 250).unref()

  async function revive(): Promise<void> {
    busy = true
    deaths.push(Date.now())
    const decision = decideRestart(deaths, Date.now())
    if (decision === 'give up') return giveUp()
    await delay(decision.pauseMs)
    try {
      await withLock(site.dataFolder, async () => {
        if (!stopped) server = (await attachOrLaunch(site)).server
      })
      if (!stopped) tell({ outcome: 'restarted', pid: server.pid })
    } catch (error) {
      trouble = (error as Error).message
    }
    busy = false
  }

  function giveUp(): void {
    clearInterval(timer)
    const detail = `it ended ${maxDeaths} times within ${windowMs / 1000} s, the last time because ${trouble}`
    tell({
      outcome: 'gave up',
      error: new LocalPostgresError('LOCAL_POSTGRES_START_FAILED', { folder: site.dataFolder, detail }),
    })
  }

  return {
    get server() {
      return server
    },
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}
