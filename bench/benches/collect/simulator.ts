/**
 * The bench's hand on the simulator: it starts the process and speaks to its admin port.
 */

import type { GroundTruth, OracleEntry, OracleSummary } from '@sluice/github-sim'
import { pause } from '../../measure/clock.ts'
import { startChild } from '../../processes/start-child.ts'
import { prove } from '../../proof.ts'
import type { Addresses, SimAccount, SimulateInput, SimulatorTold, SimulatorWord } from '../../roles/simulate-github.ts'

export interface Simulator extends Addresses {
  readonly pid: number
  truth(login: string): Promise<GroundTruth>
  oracle(): Promise<OracleSummary>
  entries(): Promise<OracleEntry[]>
  advance(ms: number): Promise<void>
  churn<Done>(deed: string, words?: object): Promise<Done>
  chaos(words: object): Promise<void>
  /** Of those that were planned. */
  accounts(): Promise<SimAccount[]>
  /** Resolves when so many requests have come; fails when they do not come within a minute. */
  ringAt(requests: number): Promise<number>
  /** GitHub breaks down on larger pages from now on, so that walks have to make many calls for few rows. */
  breakAbove(rows: number): Promise<void>
  stop(): Promise<{ peakRssMb: number }>
}

const ringWithinMs = 60_000

interface Log {
  readonly summary: OracleSummary
  readonly entries: OracleEntry[]
}

export async function startSimulator(plan: SimulateInput): Promise<Simulator> {
  const opened = Promise.withResolvers<Addresses>()
  let rang = Promise.withResolvers<number>()
  let listed = Promise.withResolvers<SimAccount[]>()
  const child = startChild('simulateGithub', plan, (message) => {
    const told = message as SimulatorTold
    if ('rang' in told) rang.resolve(told.rang)
    else if ('accounts' in told) listed.resolve(told.accounts)
    else opened.resolve(told.addresses)
  })
  const tell = (word: SimulatorWord): void => child.tell(word)
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
    oracle: async () => (await ask<Log>('GET', '/oracle')).summary,
    entries: async () => (await ask<Log>('GET', '/oracle?since=0')).entries,
    advance: (ms) => ask('POST', '/clock/advance', { ms }),
    churn: async <Done>(deed: string, words = {}) => (await ask<{ done: Done }>('POST', `/churn/${deed}`, words)).done,
    chaos: (words) => ask('POST', '/chaos', words),
    accounts() {
      listed = Promise.withResolvers()
      tell('accounts')
      return listed.promise
    },
    ringAt(requests) {
      rang = Promise.withResolvers()
      tell({ ringAt: requests })
      const late = pause(ringWithinMs).then(() => prove(false, `${requests} requests come within ${ringWithinMs} ms`))
      return Promise.race([rang.promise, late.then(() => 0)])
    },
    breakAbove: (rows) => ask('POST', '/chaos', { match: { path: 'graphql', pageAbove: rows }, trouble: 'bad gateway' }),
    async stop() {
      tell('stop')
      return child.result
    },
  }
}
