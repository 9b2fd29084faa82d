/** Wake-ups: the first enqueue after a quiet moment carries its own, those right after it share one, and none is lost when the process leaves. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { HandClock } from '../testing/hand-clock.ts'
import { defineKind } from './kind.ts'

const job = defineKind('job', { run: () => {} })

test('[E-11] the first enqueue after a quiet moment notifies by itself, and one message speaks for all that follow at once', async ({
  engines,
  client,
}) => {
  const heard: string[] = []
  client.on('notification', ({ payload }) => void heard.push(payload ?? ''))
  await client.query('listen sluice')
  const clock = new HandClock()
  const engine = engines({ kinds: [job], clock })
  for (let n = 0; n < 20; n++) await engine.enqueue(job({ n }))
  await engine.enqueue(job({}, { delay: '1h' }))
  clock.turn(5)
  // Notifications arrive in the order of their commits: ours comes last.
  await eventually(async () => {
    await client.query(`select pg_notify('sluice', 'end:')`)
    return heard.includes('due:0')
  })
  expect(heard.filter((message) => message !== 'end:')).toEqual(['ready:light', 'ready:light', 'due:0'])
})

test('[E-11] a process that enqueues and leaves at once has woken the workers of others', async ({ engines }) => {
  const started: unknown[] = []
  const note = defineKind('note', { run: ({ payload }) => void started.push(payload['n']) })
  const worker = engines({ kinds: [note], lease: '60s' })
  await worker.start()
  // The clock of the visitor stands still, so all but its first enqueue are silent.
  const visitor = engines({ kinds: [note], clock: new HandClock() })
  await visitor.enqueue(note({ n: 1 }))
  await eventually(() => started.length === 1)
  await visitor.enqueue(note({ n: 2 }))
  await visitor.enqueue(note({ n: 3 }, { delay: 10 }))
  await visitor.stop()
  await eventually(() => started.length === 3)
})
