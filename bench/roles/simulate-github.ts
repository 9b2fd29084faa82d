/**
 * GitHub, in a process of its own: it alone knows what is true and what was asked of it. Everything but its life is told over its admin port.
 *
 * It also rings: told a number, it tells when so many requests have come, within a millisecond or two. That is how a worker is killed in the
 * middle of its calls.
 */
import { type SimOptions, startGithubSim } from '@sluice/github-sim'
import type { Line } from '../processes/line.ts'

export type SimulateInput = Omit<SimOptions, 'start'>

export interface Addresses {
  readonly url: string
  readonly graphqlUrl: string
  readonly adminUrl: string
}

export type SimulatorTold = Addresses | { readonly rang: number }

const lookEveryMs = 1

export async function simulateGithub(input: SimulateInput, line: Line): Promise<{ pid: number; peakRssMb: number }> {
  const sim = await startGithubSim(input)
  const { url, graphqlUrl, adminUrl } = sim
  line.tell({ url, graphqlUrl, adminUrl } satisfies SimulatorTold)
  let ringAt = Number.POSITIVE_INFINITY
  const bell = setInterval(() => {
    const seen = sim.oracle.count()
    if (seen < ringAt) return
    ringAt = Number.POSITIVE_INFINITY
    line.tell({ rang: seen } satisfies SimulatorTold)
  }, lookEveryMs)
  for (let word = await line.told(); word !== 'stop'; word = await line.told()) ringAt = (word as { ringAt: number }).ringAt
  clearInterval(bell)
  await sim.stop()
  return { pid: process.pid, peakRssMb: process.resourceUsage().maxRSS / 1024 }
}
