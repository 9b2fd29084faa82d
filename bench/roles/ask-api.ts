/**
 * Asks a server over many connections, each the next question as soon as the last one is answered, for a while.
 */
import { Agent, get } from 'node:http'
import { monotonicMs } from '../measure/clock.ts'
import { mean, quantile } from '../measure/statistics.ts'

export interface AskInput {
  readonly address: string
  readonly question: 'list' | 'detail'
  readonly connections: number
  readonly askMs: number
}

export interface AskAnswer {
  readonly pid: number
  readonly perSecond: number
  readonly meanMs: number
  readonly p99Ms: number
  readonly refused: number
}

/** Plans, connections and compiled code come before the measurement. */
const warmUpMs = 500

export async function askApi({ address, question, connections, askMs }: AskInput): Promise<AskAnswer> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const newest = (await ask(agent, `${address}/api/jobs?limit=1`)).newestId
  const url = (n: number): string => `${address}/api/jobs${question === 'list' ? '?limit=50' : `/${1 + ((n * 7_919) % newest)}`}`
  const startMs = monotonicMs() + warmUpMs
  const endMs = startMs + askMs
  const tookMs: number[] = []
  let [asked, refused] = [0, 0]
  const go = async (): Promise<void> => {
    for (let beganMs = monotonicMs(); beganMs < endMs; beganMs = monotonicMs()) {
      asked += 1
      const { status } = await ask(agent, url(asked))
      // A place among the ids that no job has is an answer too.
      if (status !== 200 && !(question === 'detail' && status === 404)) refused += 1
      if (beganMs >= startMs) tookMs.push(monotonicMs() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, go))
  agent.destroy()
  const perSecond = (tookMs.length * 1_000) / askMs
  return { pid: process.pid, perSecond, meanMs: mean(tookMs), p99Ms: quantile(tookMs, 0.99), refused }
}

function ask(agent: Agent, url: string): Promise<{ status: number; newestId: number }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, newestId: Number(/"id":(\d+)/.exec(text)?.[1] ?? 1) }))
      response.on('error', reject)
    }).on('error', reject)
  })
}
