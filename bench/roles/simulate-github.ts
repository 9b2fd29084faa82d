/**
 * GitHub, in a process of its own: it alone knows what is true and what was asked of it. Everything but its life is told over its admin port.
 *
 * It also rings: told a number, it tells when so many requests have come, within a few milliseconds. That is how a worker is killed in the
 * middle of its calls.
 */
import type { GithubSim, SimOptions } from '@sluice/github-sim'
import type { Line } from '../processes/line.ts'

export type SimulateInput = Omit<SimOptions, 'start'>

export interface Addresses {
  readonly url: string
  readonly graphqlUrl: string
  readonly adminUrl: string
}

export interface SimAccount {
  readonly id: number
  readonly nodeId: string
  readonly login: string
  readonly token: string
}

export type SimulatorWord = 'stop' | 'accounts' | { readonly ringAt: number }
export type SimulatorTold = { readonly addresses: Addresses } | { readonly rang: number } | { readonly accounts: SimAccount[] }

const lookEveryMs = 2

export async function simulateGithub(input: SimulateInput, line: Line): Promise<{ pid: number; peakRssMb: number }> {
  process.env.NODE_ENV ??= 'production' // the GraphQL library checks itself all the time otherwise, and reads this when it is loaded
  const { startGithubSim } = await import('@sluice/github-sim')
  const sim = await startGithubSim(input)
  const { url, graphqlUrl, adminUrl } = sim
  const tell = (told: SimulatorTold): void => line.tell(told)
  tell({ addresses: { url, graphqlUrl, adminUrl } })
  let ringAt = Number.POSITIVE_INFINITY
  const bell = setInterval(() => {
    const seen = ringAt < Number.POSITIVE_INFINITY ? sim.oracle.summary().requests : 0
    if (seen < ringAt) return
    ringAt = Number.POSITIVE_INFINITY
    tell({ rang: seen })
  }, lookEveryMs)
  for (;;) {
    const word = (await line.told()) as SimulatorWord
    if (word === 'stop') break
    if (word === 'accounts') tell({ accounts: accountsOf(sim, input) })
    else ringAt = word.ringAt
  }
  clearInterval(bell)
  await sim.stop()
  return { pid: process.pid, peakRssMb: process.resourceUsage().maxRSS / 1024 }
}

function accountsOf(sim: GithubSim, { people = [] }: SimulateInput): SimAccount[] {
  return people.flatMap(({ login }) => {
    const account = sim.world.byLogin(login)
    return account ? [{ id: account.id, nodeId: account.nodeId, login, token: sim.tokenOf(login) }] : []
  })
}
