/**
 * Recovery: a worker with a hundred running jobs is killed; how long until all of them run in another process, and is each
 * of their effects there once in the end?
 *
 * Default settings but for the pools, which must hold the hundred. The second process is up before the first one dies. The
 * effects are written through the engine, into a table that would take doubles.
 */
import type { Bench } from '../bench.ts'
import type { FreshPlace } from '../ground.ts'
import { monotonicMs, pause } from '../measure/clock.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveBooked, proveDurable } from '../proof.ts'
import { enqueueHeld } from '../roles/hold-jobs.ts'
import { within } from '../servers/postgres.ts'

const jobs = 100
const runsBeforeKillMs = 1_000
const giveUpMs = 60_000

export const recoveryBench: Bench = {
  about: 'seconds from kill -9 of a worker with 100 running jobs until all of them run in another process',
  needsRedis: false,
  headline: { figure: 'seconds', unit: 's' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const tally = { seconds: new Tally(), lost: 0, doubled: 0 }
    for (const { round } of turns([{ name: 'sluice' }], { ...plan, rounds: quick ? 1 : plan.rounds })) {
      const place = await ground.freshPlace()
      await within(place.databaseUrl, (client) => client.query('create table bench_effect (n integer not null)'))
      await enqueueHeld(place.databaseUrl, jobs)
      await place.settle()
      const first = await startHolder(place)
      await first.started(jobs)
      const second = await startHolder(place)
      await pause(runsBeforeKillMs)
      prove(second.startedCount() === 0, 'all jobs run in the first process')
      const killedAtMs = monotonicMs()
      await first.child.kill()
      await second.started(jobs)
      const seconds = (monotonicMs() - killedAtMs) / 1000
      proveApart('the two workers', [first.child.pid, second.child.pid])
      second.child.tell('let go')
      const { effects, distinct } = await effectsOf(place)
      second.child.tell('stop')
      await second.child.result
      await proveBooked(place.database, jobs, 'bench.held')
      await place.drop()
      const [lost, doubled] = [jobs - distinct, effects - distinct]
      tally.seconds.add('sluice', seconds)
      tally.lost += lost
      tally.doubled += doubled
      const figures = { seconds, lost, doubled, jobs, killedPid: first.child.pid, pid: second.child.pid }
      report({ round, contender: 'sluice', figures })
    }
    return { seconds: tally.seconds.median('sluice'), lost: tally.lost, doubled: tally.doubled, proof }
  },
}

async function startHolder({ databaseUrl }: FreshPlace) {
  const ready = Promise.withResolvers<void>()
  const started = new Set<number>()
  let check = () => {}
  const child = startChild('holdJobs', { databaseUrl, slots: jobs }, (message) => {
    if (message === 'ready') return ready.resolve()
    started.add((message as { started: number }).started)
    check()
  })
  await Promise.race([ready.promise, child.result])
  return {
    child,
    startedCount: () => started.size,
    started: (count: number) => {
      const all = new Promise<void>((resolve) => {
        check = () => started.size >= count && resolve()
        check()
      })
      const late = pause(giveUpMs).then(() => prove(false, `${count} jobs run within ${giveUpMs} ms (${started.size} do)`))
      return Promise.race([all, late, child.result])
    },
  }
}

/** Waits until the job table is empty, then counts. */
async function effectsOf({ databaseUrl }: FreshPlace): Promise<{ effects: number; distinct: number }> {
  return within(databaseUrl, async (client) => {
    const endAtMs = monotonicMs() + giveUpMs
    const left = async () => (await client.query('select from sluice.job limit 1')).rowCount ?? 0
    while ((await left()) > 0 && monotonicMs() < endAtMs) await pause(20)
    const { rows } = await client.query<{ effects: number; distinct: number }>(
      'select count(*)::int as effects, count(distinct n)::int as distinct from bench_effect',
    )
    return rows[0] ?? { effects: 0, distinct: 0 }
  })
}
