/** Lines of jobs: readable while the job runs, kept when it fails, bounded, and stored before the process leaves. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
import { done } from '../job/outcome.ts'
import { delays, once } from '../job/retry.ts'
import type { Fact } from '../support/fact.ts'
import { createTestKit } from '../testing/index.ts'
import { bytesPerAttemptMax, linesPerAttemptMax } from './log-buffer.ts'

function gateway(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((open) => {
    resolve = open
  })
  return { promise, resolve }
}

test('[O-07] lines can be read while the job still runs, in order, with their fields', async ({ engines }) => {
  const gate = gateway()
  const wordy = defineKind('wordy', {
    run: async ({ log }) => {
      log('started')
      log('half way', { done: 5, of: 10 })
      await gate.promise
    },
  })
  const engine = engines({ kinds: [wordy] })
  await engine.start()
  const { id } = await engine.enqueue(wordy({}))
  const lines = await eventually(async () => {
    const found = await engine.jobLog(id)
    return found.length === 2 && found
  })
  expect((await engine.find(id))?.state).toBe('running')
  expect(lines).toMatchObject([
    { attempt: 1, line: 1, level: 'info', message: 'started', fields: null, at: expect.any(Date) },
    { attempt: 1, line: 2, level: 'info', message: 'half way', fields: { done: 5, of: 10 } },
  ])
  gate.resolve()
})

test('[O-07] lines of attempts that failed are kept, and a reader goes on where it was', async ({ engines }) => {
  const flaky = defineKind('flaky', {
    retry: delays([1]),
    run: ({ attempt, log }) => {
      log(`try ${attempt}`)
      if (attempt === 1) throw new Error('not yet')
    },
  })
  const engine = engines({ kinds: [flaky] })
  await engine.start()
  const { id } = await engine.enqueue(flaky({}))
  const lines = await eventually(async () => {
    const found = await engine.jobLog(id)
    return found.length === 2 && found
  })
  expect(lines).toMatchObject([
    { attempt: 1, line: 1, message: 'try 1' },
    { attempt: 2, line: 1, message: 'try 2' },
  ])
  expect(await engine.jobLog(id, { limit: 1 })).toMatchObject([{ message: 'try 1' }])
  expect(await engine.jobLog(id, { after: lines[0]?.id })).toMatchObject([{ message: 'try 2' }])
  expect(await engine.jobLog(4711)).toEqual([])
})

test('[O-07] what was logged last is stored before the process leaves', async ({ engines }) => {
  const last = defineKind('last', { run: ({ log }) => log('goodbye') })
  const [worker, reader] = [engines({ kinds: [last] }), engines({ kinds: [last] })]
  await worker.start()
  const { id } = await worker.enqueue(last({}))
  await eventually(async () => (await worker.find(id))?.state === 'succeeded')
  await worker.stop()
  expect(await reader.jobLog(id)).toMatchObject([{ message: 'goodbye' }])
})

test('[O-07] an attempt that logs too much is cut, and says how much it lost', async ({ database }) => {
  const loud = defineKind('loud', {
    run: ({ log }) => {
      for (let n = 1; n <= linesPerAttemptMax + 5; n++) log(`line ${n}`)
    },
  })
  const fat = defineKind('fat', {
    run: ({ log }) => {
      for (let n = 0; n < 100; n++) log('x'.repeat(bytesPerAttemptMax / 50))
    },
  })
  const kit = await createTestKit({ database: database.url, kinds: [loud, fat] })
  const [first, second] = [await kit.enqueue(loud({})), await kit.enqueue(fat({}))]
  await kit.drain()
  const lines = await kit.jobLog(first.id, { limit: 1_000 })
  expect(lines).toHaveLength(linesPerAttemptMax)
  const rest = await kit.jobLog(first.id, { after: lines.at(-1)?.id ?? 0 })
  expect(rest).toMatchObject([
    { line: linesPerAttemptMax + 1, level: 'warn', message: expect.stringMatching(/^5 lines were dropped/) },
  ])
  const fatLines = await kit.jobLog(second.id)
  expect(fatLines).toHaveLength(51)
  expect(fatLines.at(-1)).toMatchObject({ level: 'warn', message: expect.stringMatching(/^50 lines were dropped/) })
  await kit.close()
})

test('[O-07] no line can fail its job: cycles, NUL, halves of pairs, numbers and nothing at all', async ({ database }) => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const odd = defineKind('odd', {
    retry: once,
    run: ({ log }) => {
      log('a\0b\uD800', { text: 'c\0d\uD800', path: 'C:\\u0000' })
      log('circle', circle)
      log('big', { text: 'x'.repeat(100_000) })
      log('list', [1, 2] as never)
      log(7 as never)
      log(undefined as never, null as never)
      return done()
    },
  })
  const kit = await createTestKit({ database: database.url, kinds: [odd] })
  const { id } = await kit.enqueue(odd({}))
  expect(await kit.drain()).toMatchObject([{ outcome: 'done' }])
  expect((await kit.jobLog(id)).map(({ message, fields }) => [message, fields])).toEqual([
    ['a\uFFFDb\uFFFD', { text: 'c\uFFFDd\uFFFD', path: 'C:\\u0000' }],
    ['circle', { unreadable: expect.stringContaining('circular') }],
    ['big', { tooLarge: expect.stringMatching(/^\d+ characters$/) }],
    ['list', { value: [1, 2] }],
    ['7', null],
    ['undefined', { value: null }],
  ])
  await kit.close()
})

test('[O-07] lines wait while the database is away and are stored when it is back', async ({ engines, client }) => {
  const gate = gateway()
  const wordy = defineKind('wordy', {
    run: async ({ log }) => {
      log('before')
      await gate.promise
      log('after')
    },
  })
  const engine = engines({ kinds: [wordy] })
  await engine.start()
  const { id } = await engine.enqueue(wordy({}))
  await eventually(async () => (await engine.jobLog(id)).length === 1)
  await client.query('begin; lock table sluice.job_log in access exclusive mode')
  gate.resolve()
  const stuck = `select pid from pg_stat_activity where datname = current_database() and query like '%insert into sluice.job_log%' and wait_event_type = 'Lock'`
  const [row] = await eventually(async () => {
    await client.query('select pg_stat_clear_snapshot()') // a transaction sees the same activity again otherwise
    const { rows } = await client.query(stuck)
    return rows.length > 0 && rows
  })
  await client.query('select pg_terminate_backend($1)', [row.pid])
  await client.query('commit')
  const lines = await eventually(async () => {
    const found = await engine.jobLog(id)
    return found.length === 2 && found
  })
  expect(lines.map(({ message }) => message)).toEqual(['before', 'after'])
})

test('[O-10] secrets are taken out of what handlers log and throw before it is stored or told', async ({ engines }) => {
  const facts: Fact[] = []
  const leaky = defineKind('leaky', {
    retry: once,
    run: ({ log }) => {
      log('using open-sesame', { header: 'Bearer open-sesame' })
      throw new Error('refused: open-sesame')
    },
  })
  const scrub = (text: string): string => text.replaceAll('open-sesame', '***')
  const engine = engines({ kinds: [leaky], scrub, observe: (fact) => facts.push(fact) })
  await engine.start()
  const { id } = await engine.enqueue(leaky({}))
  const lines = await eventually(async () => {
    const found = await engine.jobLog(id)
    return found.length === 1 && (await engine.find(id))?.state === 'failed' && found
  })
  const kept = JSON.stringify([lines, await engine.find(id), await engine.attempts(id), facts])
  expect(kept).not.toContain('open-sesame')
  expect(lines).toMatchObject([{ message: 'using ***', fields: { header: 'Bearer ***' } }])
  expect(await engine.find(id)).toMatchObject({ error: { message: 'refused: ***' } })
})

test('[O-07] a page that cannot be is refused by name', async ({ engines }) => {
  const engine = engines({})
  await expect(engine.jobLog(1, { limit: 0 })).rejects.toThrow(/limit/)
  await expect(engine.jobLog(1, { after: -1 })).rejects.toThrow(/after/)
})

test('[E-24] lines are kept by day and go with the days of the ledger', async ({ client, engines }) => {
  const engine = engines({ keepDays: 1 })
  await engine.migrate()
  await client.query(`select sluice.add_days((sluice.now() at time zone 'UTC')::date - 5, 5)`)
  await client.query(`insert into sluice.job_log values (1, 1, 1, 1, sluice.now() - interval '4 days', 'info', 'old', null),
                                                        (2, 1, 1, 2, sluice.now(), 'info', 'new', null)`)
  await engine.start()
  const lines = await eventually(async () => {
    const found = await engine.jobLog(1)
    return found.length === 1 && found
  })
  expect(lines).toMatchObject([{ message: 'new' }])
})
