/**
 * What processes tell each other over the channel `sluice`, and who hears it. All of it are hints: losing one delays until the next
 * heartbeat, and a word that this version does not know is passed over.
 */
import type { Leader } from './maintenance/leader.ts'
import type { RunWaiters } from './run/run-waiters.ts'
import type { Scheduler } from './schedule/scheduler.ts'
import type { Worker } from './worker/worker.ts'

export interface Hearers {
  readonly worker: Pick<Worker, 'id' | 'wake' | 'cancel' | 'hearSuspects'>
  readonly leader: Pick<Leader, 'hearDue' | 'hearRunEnd'>
  readonly runWaiters: Pick<RunWaiters, 'hear'>
  readonly scheduler: Pick<Scheduler, 'hear'>
  readonly beatNow: () => void
}

export function hear(message: string, { worker, leader, runWaiters, scheduler, beatNow }: Hearers): void {
  const [topic = '', ...rest] = message.split(':')
  switch (topic) {
    case 'ready':
    case 'turn':
      return worker.wake(message)
    case 'due':
      return leader.hearDue(Number(rest[0]))
    case 'run':
      runWaiters.hear(rest.join(':'))
      return leader.hearRunEnd(rest.join(':'))
    case 'cancel':
      if (Number(rest[0]) === worker.id) worker.cancel(Number(rest[1]), Number(rest[2]))
      return
    case 'schedule':
      return scheduler.hear()
    case 'suspect':
      return worker.hearSuspects()
    case 'pause':
    case 'leader':
    case 'watch':
      return beatNow()
  }
}
