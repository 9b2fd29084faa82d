/**
 * The server whose budgets are to be kept, in a process of its own: it alone knows how many calls were made in each window.
 *
 * Every tenant has so many calls in a window; windows follow each other without a gap. A call counts when it arrives, its answer
 * comes a while later, so answers overtake each other. The reset in the headers is off by up to `jitterMs` either way. A call past
 * the budget is refused and counted as overdrawn.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wallMs } from '../measure/clock.ts'
import type { Line } from '../processes/line.ts'

export interface OracleInput {
  readonly tenants: number
  readonly limit: number
  readonly windowMs: number
  readonly answerMs: readonly [least: number, most: number]
  readonly jitterMs: number
}

export interface OracleFigures {
  readonly pid: number
  readonly calls: number
  readonly overdrawn: number
  /** Share of the budget that was left at each reset, of windows that were open from beginning to end. */
  readonly unused: readonly number[]
}

export async function oracle(input: OracleInput, line: Line): Promise<OracleFigures> {
  const { tenants, limit, windowMs, answerMs, jitterMs } = input
  const openedAtMs = wallMs()
  const used = Array.from({ length: tenants }, () => [] as number[])
  let calls = 0
  let overdrawn = 0
  /** Tenants' windows begin at different times. */
  const windowOf = (tenant: number) => Math.floor((wallMs() - openedAtMs + (tenant * windowMs) / tenants) / windowMs)
  const server = createServer((request, response) => {
    const tenant = Number(request.url?.slice(1))
    const window = windowOf(tenant)
    const windows = used[tenant] as number[]
    const count = (windows[window] ?? 0) + 1
    windows[window] = count
    calls += 1
    if (count > limit) overdrawn += 1
    const resetMs = openedAtMs + (window + 1) * windowMs - (tenant * windowMs) / tenants
    const said = resetMs + jitterMs * (2 * Math.random() - 1)
    const [least, most] = answerMs
    setTimeout(
      () => {
        response.writeHead(count > limit ? 429 : 200, {
          'x-remaining': Math.max(0, limit - count),
          'x-reset-ms': Math.round(said),
        })
        response.end()
      },
      least + Math.random() * (most - least),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  line.tell({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  await line.told()
  // The first window saw the workers start, the last is still open.
  const unused = used.flatMap((windows, tenant) =>
    Array.from({ length: Math.max(0, windowOf(tenant) - 1) }, (_, at) => 1 - Math.min(limit, windows[at + 1] ?? 0) / limit),
  )
  server.closeAllConnections()
  server.close()
  return { pid: process.pid, calls, overdrawn, unused }
}
