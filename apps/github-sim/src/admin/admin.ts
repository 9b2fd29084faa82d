/**
 * The port for those who run the experiment: ground truth, the oracle's log, the clock, churn, chaos and tokens. It stands
 * apart, so that nothing a collector can reach gives the answers away.
 */
import { z } from 'zod'
import { chaosRule } from '../chaos/rule.ts'
import type { Churn } from '../churn/churn.ts'
import type { Outgoing } from '../http/front.ts'
import type { Incoming } from '../http/incoming.ts'
import { type Listening, listen } from '../http/listen.ts'
import type { Simulation } from '../simulation.ts'
import { doDeed } from './deeds.ts'

const advance = z.strictObject({ ms: z.number().nonnegative() })
const chaosDeed = z.union([
  z.strictObject({ revoke: z.string() }),
  z.strictObject({ reinstate: z.string(), token: z.string().optional() }),
  z.strictObject({ clear: z.literal(true) }),
  chaosRule,
])

export function startAdmin(sim: Simulation, churn: Churn, port: number): Promise<Listening> {
  return listen(port, async (incoming) => {
    try {
      const found = answer(sim, churn, incoming)
      return found === undefined ? write(404, { message: 'There is nothing here.' }) : write(200, found)
    } catch (error) {
      return write(400, { message: error instanceof z.ZodError ? z.prettifyError(error) : String(error) })
    }
  })
}

function answer(sim: Simulation, churn: Churn, { method, url, body }: Incoming): unknown {
  const { pathname, searchParams } = new URL(url, 'http://admin')
  const [, noun = '', name = '', ...more] = pathname.split('/').map(decodeURIComponent)
  if (more.length > 0) return undefined
  const given = () => (body === '' ? {} : (JSON.parse(body) as unknown))
  switch (`${method} ${noun}`) {
    case 'GET truth':
      return sim.world.groundTruth(name)
    case 'GET oracle':
      return {
        summary: sim.oracle.summary(),
        entries: searchParams.has('since') ? sim.oracle.entries(Number(searchParams.get('since'))) : [],
      }
    case 'POST oracle':
      return name === 'reset' ? (sim.oracle.reset(), {}) : undefined
    case 'GET clock':
      return { now: sim.clock.now() }
    case 'POST clock':
      return name === 'advance' ? { now: sim.clock.advance(advance.parse(given()).ms) } : undefined
    case 'POST churn':
      return { done: doDeed(churn, name, given()) ?? null }
    case 'POST chaos':
      return doChaos(sim, chaosDeed.parse(given()))
    case 'GET tokens':
      return sim.tokens.all().map((known) => ({ ...known, login: sim.world.accounts.get(known.accountId)?.login }))
    default:
      return undefined
  }
}

function doChaos({ chaos }: Simulation, deed: z.output<typeof chaosDeed>): unknown {
  if ('revoke' in deed) return { revoked: chaos.revoke(deed.revoke) }
  if ('reinstate' in deed) return { token: chaos.reinstate(deed.reinstate, deed.token) }
  if ('clear' in deed) return (chaos.clear(), {})
  chaos.script(deed)
  return {}
}

const write = (status: number, body: unknown): Outgoing => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
  mischief: undefined,
})
