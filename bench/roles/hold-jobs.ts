/**
 * A Sluice worker whose jobs run until it is told to let go; then each writes its effect through the engine, in the
 * transaction that settles it. Tells each start. Ends when it is told a second time.
 */
import { createEngine, defineKind, done } from '@sluice/engine'
import { z } from 'zod'
import type { Line } from '../processes/line.ts'

export interface HoldJobsInput {
  readonly databaseUrl: string
  readonly slots: number
}

const held = (onStart: (n: number) => void, letGo: Promise<unknown>) =>
  defineKind('bench.held', {
    payload: z.object({ n: z.number() }),
    dedupe: 'keep',
    async run({ payload }) {
      onStart(payload.n)
      await letGo
      return done({ write: async (tx) => void (await tx.query('insert into bench_effect (n) values ($1)', [payload.n])) })
    },
  })

export async function holdJobs(input: HoldJobsInput, line: Line): Promise<{ pid: number }> {
  const letGo = line.told()
  const kind = held((n) => line.tell({ started: n }), letGo)
  const size = { core: input.slots, max: input.slots }
  const engine = createEngine({ database: input.databaseUrl, kinds: [kind], pools: { light: size } })
  await engine.start()
  line.tell('ready')
  await letGo
  await line.told()
  await engine.stop()
  return { pid: process.pid }
}

export async function enqueueHeld(databaseUrl: string, jobs: number): Promise<void> {
  const kind = held(() => {}, Promise.resolve())
  const engine = createEngine({ database: databaseUrl, kinds: [kind] })
  await engine.enqueueMany(Array.from({ length: jobs }, (_, n) => kind({ n })))
  await engine.stop()
}
