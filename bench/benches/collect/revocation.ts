/**
 * Revocation: a token dies while many calls are under way. How many are still made with it once the first 401 has been answered?
 *
 * In flight are the jobs whose attempt had begun when the refusal had been written down and the first refused job had ended: the refusal is a transaction, and no process can know before it commits. Those that ran when the answer left the simulator are counted
 * as well, and how long it took from there. Afterwards the person gives a new token, and the collection must end with everything in it.
 */
import type { Strategy } from '@sluice/collector'
import type { Ground } from '../../ground.ts'
import { monotonicMs, pause } from '../../measure/clock.ts'
import { prove } from '../../proof.ts'
import { unlimited } from './cold.ts'
import { compare, faultsOf } from './compare.ts'
import { personOfCalls, smallPage } from './many-calls.ts'
import { type Stage, setStage } from './stage.ts'

const workers = 4
const slots = 8
const latencyMs = 40
const calls = 600
const quietMs = 1_000
const patienceMs = 30_000

export async function revocation(ground: Ground, strategy: Strategy) {
  const person = { ...personOfCalls('revoked', strategy, calls), repositories: workers * slots + 8 }
  const stage = await setStage(ground, {
    strategy,
    slots,
    cap: workers * slots,
    sim: { seed: 7, people: [person], ...unlimited, latencyMs },
  })
  const { sim } = stage
  if (strategy === 'graphql') await sim.breakAbove(smallPage)
  const user = await stage.register(person.login)
  await stage.staff(workers)
  const middle = sim.ringAt(calls / 2)
  await stage.request([user])
  await middle
  await sim.chaos({ revoke: person.login })
  await quiet(stage, user.id)
  const first = (await sim.entries()).find(({ status }) => status === 401)
  prove(first !== undefined, 'the simulator refused the token while it was collected with')
  const [state] = await stage.ask<{ token_state: string }>('select token_state from collector.users where id = $1', [user.id])
  prove(state?.token_state === 'refused', 'the token is known to be refused')
  const knownAt = await firstEndAfter(stage, user.id, new Date(first?.at ?? 0))
  const inFlight = await runningAt(stage, user.id, knownAt)
  const inFlightAtAnswer = await runningAt(stage, user.id, new Date((first?.at ?? 0) + latencyMs))
  const before = (await sim.entries()).length
  await pause(quietMs)
  prove((await sim.entries()).length === before, 'nothing is sent while the token is refused')
  const token = `ghp_${'n'.repeat(36)}`
  await sim.chaos({ reinstate: person.login, token })
  await stage.collector.users.rotateToken(user.id, token)
  const states = await stage.ended([user])
  prove(states.get(user.id) === 'completed', `with a new token the collection completes (${states.get(user.id)})`)
  const differences = await compare(stage, user.id, await sim.truth(person.login))
  prove(faultsOf(differences) === 0, `and is whole (${JSON.stringify(differences)})`)
  const { units, overBudget, sentWhileLimited, afterRevocation, seconds } = await stage.strike()
  return {
    units,
    seconds,
    callsAfterRevocation: afterRevocation,
    inFlightAtRevocation: inFlight - 1, // not the one that brought the news
    inFlightAtAnswer: inFlightAtAnswer - 1,
    knownAfterMs: knownAt.getTime() - (first?.at ?? Number.NaN) - latencyMs,
    workers: workers * slots,
    latencyMs,
    overBudget,
    sentWhileLimited,
  }
}

/** Until no job of this person runs any more. */
async function quiet({ ask }: Stage, userId: number): Promise<void> {
  const running = async () =>
    (await ask(`select from sluice.job where owner = $1 and worker is not null limit 1`, [String(userId)])).length > 0
  const endAtMs = monotonicMs() + patienceMs
  do await pause(quietMs)
  while ((await running()) && monotonicMs() < endAtMs)
}

/** Refused jobs end by going back to wait, once the refusal is committed. */
async function firstEndAfter({ ask }: Stage, userId: number, at: Date): Promise<Date> {
  const [row] = await ask<{ ended: Date | null }>(
    `select min(a.ended_at) as ended from sluice.attempt a join sluice.job j on j.id = a.job
     where j.owner = $1 and a.ended_at > $2 and a.outcome = 'snooze'`,
    [String(userId), at],
  )
  prove(row?.ended instanceof Date, 'a refused job went back to wait')
  return row?.ended ?? at
}

/** Jobs whose attempt had begun by then and had not ended. */
async function runningAt({ ask }: Stage, userId: number, at: Date): Promise<number> {
  const [row] = await ask<{ running: number }>(
    `select count(*)::int as running from sluice.attempt a join sluice.job j on j.id = a.job
     where j.owner = $1 and a.started_at <= $2 and a.ended_at >= $2`,
    [String(userId), at],
  )
  return row?.running ?? 0
}
