/**
 * The bench's hand on the simulator: it starts the process and speaks to its admin port.
 */
import { startChild } from '../../processes/start-child.ts'
import { prove } from '../../proof.ts'
import type { Addresses, SimulateInput, SimulatorTold } from '../../roles/simulate-github.ts'
import type { GroundTruth } from '@sluice/github-sim'

/** One request, as the simulator saw it. */
export interface Entry {
  readonly n: number
  /** Ms, on the simulator's clock. */
  readonly at: number
  readonly account: number | null
  readonly token8: string
  readonly resource: string
  readonly method: string
  readonly path: string
  readonly operation: string | null
  readonly status: number
  readonly units: number
  readonly inFlight: number
}

export interface OracleSummary {
  readonly requests: number
  readonly units: number
  readonly byResource: Readonly<Record<string, number>>
  readonly byOperation: Readonly<Record<string, number>>
  readonly overBudget: number
  readonly sentWhileLimited: number
}

export interface Simulator extends Addresses {
  readonly pid: number
  truth(login: string): Promise<GroundTruth>
  oracle(): Promise<OracleSummary>
  entries(): Promise<Entry[]>
  advance(ms: number): Promise<void>
  churn<Done>(deed: string, words?: object): Promise<Done>
  chaos(words: object): Promise<void>
  /** By login. */
  tokens(): Promise<Record<string, string>>
  /** Resolves when so many requests have come. */
  ringAt(requests: number): Promise<number>
  stop(): Promise<{ peakRssMb: number }>
}

export async function startSimulator(plan: SimulateInput): Promise<Simulator> {
  const opened = Promise.withResolvers<Addresses>()
  let rang = Promise.withResolvers<number>()
  const child = startChild('simulateGithub', plan, (message) => {
    const told = message as SimulatorTold
    if ('rang' in told) rang.resolve(told.rang)
    else opened.resolve(told)
  })
  const addresses = await Promise.race([opened.promise, child.result.then(() => undefined)])
  if (!addresses) throw new Error('the simulator ended before it listened')

  async function ask<Answer>(method: 'GET' | 'POST', path: string, words?: object): Promise<Answer> {
    const response = await fetch(`${addresses?.adminUrl}${path}`, {
      method,
      ...(words && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(words) }),
    })
    const text = await response.text()
    prove(response.ok, `the simulator takes ${method} ${path} (${response.status}: ${text.slice(0, 200)})`)
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }

  return {
    ...addresses,
    pid: child.pid,
    truth: (login) => ask('GET', `/truth/${login}`),
    oracle: () => ask('GET', '/oracle'),
    entries: async () => (await ask<{ entries: Entry[] }>('GET', '/oracle?entries=true')).entries,
    advance: (ms) => ask('POST', '/clock/advance', { ms }),
    churn: (deed, words = {}) => ask('POST', `/churn/${deed}`, words),
    chaos: (words) => ask('POST', '/chaos', words),
    tokens: () => ask('GET', '/tokens'),
    ringAt(requests) {
      rang = Promise.withResolvers()
      child.tell({ ringAt: requests })
      return rang.promise
    },
    async stop() {
      child.tell('stop')
      return child.result
    },
  }
}
