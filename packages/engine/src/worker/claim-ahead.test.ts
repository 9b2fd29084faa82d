/** Jobs that a process claimed ahead of its slots: others get them when it cannot run them soon, and a canceled one never starts. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { type AnyKind, defineKind } from '../job/kind.ts'
import { done } from '../job/outcome.ts'

const countQuick = 3_000
const countMarked = 300
const pools = { light: { core: 5, max: 10 } }

/** Short jobs that teach a worker to claim ahead, then slow ones that take all of its slots, then the ones that matter. */
function scene() {
  const ends: (() => void)[] = []
  const marked: string[] = []
  const quick = defineKind('quick', { run: async () => {} })
  const slow = defineKind('slow', { run: () => new Promise<void>((resolve) => void ends.push(resolve)) })
  const mark = (name: string): AnyKind => defineKind('mark', { run: async () => void marked.push(name) })
  const requests = [
    ...Array.from({ length: countQuick }, () => quick({})),
    ...Array.from({ length: pools.light.max }, () => slow({})),
    ...Array.from({ length: countMarked }, () => mark('any')({})),
  ]
  const kinds = (name: string): AnyKind[] => [quick, slow, mark(name)]
  return { ends, marked, requests, kinds }
}

test('[E-20] jobs that wait behind slow ones in one process are run by another that is free', async ({ engines }) => {
  const { ends, marked, requests, kinds } = scene()
  const busy = engines({ kinds: kinds('busy'), pools })
  const free = engines({ kinds: kinds('free'), pools })
  await busy.enqueueMany(requests)
  await busy.start()
  await eventually(() => ends.length === pools.light.max)
  await free.start()
  await eventually(() => marked.length === countMarked)
  expect(new Set(marked)).toEqual(new Set(['free']))
  for (const end of ends) end()
})

test('[E-22] a job that is canceled before its slot was free is never started', async ({ engines }) => {
  const { ends, marked, requests, kinds } = scene()
  const engine = engines({ kinds: kinds('only'), pools })
  const jobs = (await engine.enqueueMany(requests)).slice(-countMarked)
  await engine.start()
  await eventually(() => ends.length === pools.light.max)
  await Promise.all(jobs.map(({ id }) => engine.cancel(id)))
  for (const end of ends) end()
  await eventually(async () => (await engine.find(jobs.at(-1)?.id ?? 0))?.state === 'canceled')
  for (const { id } of jobs) await eventually(async () => (await engine.find(id))?.state === 'canceled')
  expect(marked).toEqual([])
})

test('[E-20] handlers do not run far ahead of what they write: a process that dies would have to do all of it again', async ({
  engines,
  client,
}) => {
  const wrote = defineKind('wrote', { run: () => done({ write: (tx) => tx.query('select pg_sleep(0.02)', []) }) })
  const engine = engines({ kinds: [wrote], pools })
  const count = 600
  await engine.enqueueMany(Array.from({ length: count }, () => wrote({})))
  await engine.start()
  let most = 0
  await eventually(async () => {
    const { rows } = await client.query(
      `select count(*) filter (where worker is not null)::int as held, count(*)::int as left from sluice.job`,
    )
    most = Math.max(most, rows[0].held)
    return rows[0].left === 0
  })
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(count / 3)
})
