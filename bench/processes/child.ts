/**
 * The program of every process of the bench: it is told a role and an input, plays the role, answers and ends.
 */
import type { askApi } from '../roles/ask-api.ts'
import type { collectGithub } from '../roles/collect-github.ts'
import type { delayed } from '../roles/delayed.ts'
import type { drain } from '../roles/drain.ts'
import type { enqueue } from '../roles/enqueue.ts'
import type { holdJobs } from '../roles/hold-jobs.ts'
import type { idle } from '../roles/idle.ts'
import type { oracle } from '../roles/oracle.ts'
import type { sendSamples } from '../roles/send-samples.ts'
import type { serveApi } from '../roles/serve-api.ts'
import type { simulateGithub } from '../roles/simulate-github.ts'
import type { spend } from '../roles/spend.ts'
import type { tellStarts } from '../roles/tell-starts.ts'
import type { workAlong } from '../roles/work-along.ts'
import type { workInRuns } from '../roles/work-in-runs.ts'
import type { Answer, Line } from './line.ts'

export interface Roles {
  drain: typeof drain
  enqueue: typeof enqueue
  delayed: typeof delayed
  sendSamples: typeof sendSamples
  tellStarts: typeof tellStarts
  holdJobs: typeof holdJobs
  idle: typeof idle
  oracle: typeof oracle
  spend: typeof spend
  workInRuns: typeof workInRuns
  workAlong: typeof workAlong
  serveApi: typeof serveApi
  askApi: typeof askApi
  simulateGithub: typeof simulateGithub
  collectGithub: typeof collectGithub
}
export type RoleName = keyof Roles

type AnyRole = (input: unknown, line: Line) => Promise<unknown>

const load: { [Name in RoleName]: () => Promise<Roles[Name]> } = {
  drain: async () => (await import('../roles/drain.ts')).drain,
  enqueue: async () => (await import('../roles/enqueue.ts')).enqueue,
  delayed: async () => (await import('../roles/delayed.ts')).delayed,
  sendSamples: async () => (await import('../roles/send-samples.ts')).sendSamples,
  tellStarts: async () => (await import('../roles/tell-starts.ts')).tellStarts,
  holdJobs: async () => (await import('../roles/hold-jobs.ts')).holdJobs,
  idle: async () => (await import('../roles/idle.ts')).idle,
  oracle: async () => (await import('../roles/oracle.ts')).oracle,
  spend: async () => (await import('../roles/spend.ts')).spend,
  workAlong: async () => (await import('../roles/work-along.ts')).workAlong,
  workInRuns: async () => (await import('../roles/work-in-runs.ts')).workInRuns,
  serveApi: async () => (await import('../roles/serve-api.ts')).serveApi,
  askApi: async () => (await import('../roles/ask-api.ts')).askApi,
  simulateGithub: async () => (await import('../roles/simulate-github.ts')).simulateGithub,
  collectGithub: async () => (await import('../roles/collect-github.ts')).collectGithub,
}

type Message = { role: RoleName; input: unknown } | { told: unknown }

const unheard: unknown[] = []
const hearers: ((message: unknown) => void)[] = []
const line: Line = {
  tell: (message) => void process.send?.({ told: message }),
  told: () =>
    new Promise((resolve) => {
      if (unheard.length > 0) resolve(unheard.shift())
      else hearers.push(resolve)
    }),
}

process.on('message', (message: Message) => {
  if ('role' in message) void play(message.role, message.input)
  else if (hearers.length > 0) hearers.shift()?.(message.told)
  else unheard.push(message.told)
})
process.once('disconnect', () => process.exit(1))

async function play(role: RoleName, input: unknown): Promise<void> {
  try {
    const act = (await load[role]()) as AnyRole
    answer({ result: await act(input, line) }, 0)
  } catch (error) {
    answer({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 1)
  }
}

function answer(message: Answer, code: number): void {
  process.send?.(message, () => process.exit(code))
}
