/**
 * A worker that dies at any named place loses nothing and doubles no effect. The victim says that it got there before it kills itself, so
 * a place that is never reached fails its test. Then another process takes over, after the victim's lease.
 */
import type { FailPoint } from '@sluice/engine'
import { expect } from 'vitest'
import { effectTable, stepBoth, stepKinds, stepNext, stepPlain, stepWrite } from '../programs/step-kinds.ts'
import { eventually } from '../support/database.ts'
import { serverWaits, withOnlooker } from '../support/onlooker.ts'
import { type Program, test } from '../support/processes.ts'
import { drained, nothingWrong, tally } from '../support/tally.ts'

const shapes = { plain: stepPlain, write: stepWrite, next: stepNext, both: stepBoth }
type Shape = keyof typeof shapes

const everyShape = Object.keys(shapes) as Shape[]
const places: [place: FailPoint | 'handler', when: string, shapes: Shape[]][] = [
  ['claim sent', 'before its claim is sent', everyShape],
  ['claimed', 'right after its claim', everyShape],
  ['handler', 'in a handler', everyShape],
  ['handler ended', 'between handler and settle', everyShape],
  ['settle sent', 'before a settle is sent', ['plain']],
  ['settled', 'after the settle of a job without consequence', ['plain']],
  ['before commit', 'before the commit of a write', ['write']],
  ['settled', 'after the commit of a write', ['write']],
  ['before commit', 'before the commit of children', ['next']],
  ['settled', 'after the commit of children', ['next']],
  ['before commit', 'before the commit of a write with children', ['both']],
  ['settled', 'after the commit of a write with children', ['both']],
]

const calm = { kinds: stepKinds, services: { enter: () => {} }, lease: '1s' } as const

test.concurrent.for(places)(
  '[E-07] [E-09] nothing is lost or doubled when a worker dies at "%s", %s',
  async ([place, , shapesUsed], { client, engines, program }) => {
    await client.query(effectTable)
    const survivor = engines(calm)
    const jobs = await survivor.enqueueMany(shapesUsed.flatMap((shape) => [1, 2, 3].map((n) => shapes[shape]({ n }))))

    const victim = program('step-worker', { at: place, lease: '1s' })
    expect(await victim.ended, victim.complaints).toEqual({ code: null, signal: 'SIGKILL' })
    expect(victim.said).toContainEqual({ reached: place })

    await survivor.start()
    await drained(client)
    expect(
      await tally(
        client,
        jobs.map(({ id }) => id),
      ),
    ).toEqual(nothingWrong)
  },
)

test('[E-07] a claim that commits when its worker is already dead is taken back', async ({
  database,
  client,
  engines,
  program,
}) => {
  await client.query(effectTable)
  const survivor = engines(calm)
  const victim = program('step-worker', { lease: '5s' })
  const { worker } = await victim.hears('worker')
  // One that goes the whole way, so that nothing of the start is under way any more.
  const first = await survivor.enqueue(stepPlain({}))
  await victim.hears('point', 'settled')

  // The job and the lock that keeps every claim waiting go away with one commit, so the claim finds the job after its sender's death.
  await client.query('begin; lock table sluice.job in exclusive mode')
  const { rows: enqueued } = await client.query(`select id::int from sluice.enqueue('step.write')`)
  await withOnlooker(database.url, async (onlooker) => {
    await onlooker.query(`notify sluice, 'ready:light'`)
    await serverWaits(onlooker, 'sluice.claim(')
  })
  await kill(victim)
  await client.query('commit')

  const id = enqueued[0].id
  const held = await eventually(async () => (await survivor.find(id))?.state === 'running' && survivor.find(id))
  expect(held).toMatchObject({ worker, attempt: 1 })
  await survivor.start()
  await drained(client)
  expect(await tally(client, [first.id, id])).toEqual(nothingWrong)
})

test('[E-07] a settle that commits when its worker is already dead counts', async ({ database, client, engines, program }) => {
  await client.query(effectTable)
  const survivor = engines(calm)
  const { id } = await survivor.enqueue(stepPlain({}))
  const victim = program('step-worker', { lease: '5s', gated: ['step.plain'] })
  const { worker } = await victim.hears('worker')
  await victim.hears('started', id)

  await client.query('begin')
  await client.query('select from sluice.job where id = $1 for update', [id])
  victim.tell({ open: true })
  await withOnlooker(database.url, (onlooker) => serverWaits(onlooker, 'sluice.settle_done('))
  await kill(victim)
  await client.query('commit')

  const ended = await eventually(async () => (await survivor.find(id))?.state === 'succeeded' && survivor.find(id))
  expect(ended).toMatchObject({ worker, attempt: 1 })
  await survivor.start()
  await eventually(async () => (await client.query('select from sluice.worker where id = $1', [worker])).rows.length === 0)
  expect(await tally(client, [id])).toEqual(nothingWrong)
})

async function kill(victim: Program): Promise<void> {
  victim.signal('SIGKILL')
  expect(await victim.ended).toEqual({ code: null, signal: 'SIGKILL' })
}
