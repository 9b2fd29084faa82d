/**
 * A bad row found in the table fails that job only: its neighbours in the same claim succeed and the loop goes on. Rows like these come from
 * older versions, from hand-written SQL, or from a kind whose schema has changed since.
 */
import { defineKind } from '@sluice/engine'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../support/database.ts'

const note = defineKind('note', { payload: z.strictObject({ text: z.string() }), run: () => {} })

const badPayloads: [what: string, payload: string][] = [
  ['a number', '5'],
  ['null', 'null'],
  ['text', '"text"'],
  ['a list', '[]'],
  ['an object without the field', '{}'],
  ['a field of the wrong type', '{"text": 7}'],
  ['a field from another version', '{"text": "a", "cc": "b"}'],
  ['a number beyond JavaScript', `{"text": 1${'0'.repeat(400)}}`],
]

test('[E-01] a payload of the wrong shape fails its own job, its neighbours succeed, the loop goes on', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [note], pools: { light: { core: 50, max: 50 } } })
  await engine.migrate()
  // One rank for all, good and bad in turns: they are claimed together.
  const insert = async (payload: string) => {
    const { rows } = await client.query<{ id: string }>(
      `insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at)
       values ('note', 'light', 1, $1, 5, now()) returning id`,
      [payload],
    )
    return Number(rows[0]!.id)
  }
  const bad = new Map<number, string>()
  const good: number[] = []
  for (const [what, payload] of badPayloads) {
    bad.set(await insert(payload), what)
    good.push(await insert('{"text": "fine"}'))
  }
  await engine.start()
  for (const id of good) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  for (const [id, what] of bad) {
    const job = await eventually(async () => {
      const found = await engine.find(id)
      return found?.state === 'failed' && found
    })
    expect(job, what).toMatchObject({
      attempt: 1,
      error: { code: 'INVALID_PAYLOAD', message: expect.stringContaining('"note"') },
    })
  }
  const { id } = await engine.enqueue(note({ text: 'later' }))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
})

test('[E-01] a row whose numbers are out of all bounds does not stop the loop', async ({ engines, client }) => {
  const engine = engines({ kinds: [note] })
  await engine.migrate()
  await client.query(
    `insert into sluice.job (kind, pool, rank, payload, max_attempts, attempt, priority, created_at, owner, root, parent) values
     ('note', 'light', -9007199254740991, '{"text": "lowest rank"}', 5, 0, 0, now(), null, null, null),
     ('note', 'light', 9007199254740993, '{"text": "highest rank"}', 5, 0, 0, now(), null, null, null),
     ('note', 'light', 1, '{"text": "no attempts left"}', 0, 900, 32767, 'infinity', repeat('o', 5000), -1, 9007199254740993)`,
  )
  await engine.start()
  const { id } = await engine.enqueue(note({ text: 'neighbour' }))
  await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  await eventually(async () => (await client.query(`select from sluice.job where shelf is null`)).rowCount === 0)
})

test('a job of a kind that nobody here defines is left alone and its neighbours go on', async ({ engines, client }) => {
  const engine = engines({ kinds: [note] })
  await engine.migrate()
  await client.query(
    `insert into sluice.job (kind, pool, rank, payload, max_attempts, created_at)
     select case n % 2 when 0 then 'gone' else 'note' end, 'light', n, '{"text": "a"}', 5, now() from generate_series(1, 60) n`,
  )
  await engine.start()
  await eventually(async () => (await client.query('select from sluice.job_ledger')).rowCount === 30)
  const { rows } = await eventually(async () => {
    const left = await client.query(
      `select distinct kind, sluice.state_of(shelf, worker) as state, attempt, crashes from sluice.job`,
    )
    return left.rowCount === 1 && left
  })
  expect(rows).toEqual([{ kind: 'gone', state: 'ready', attempt: 0, crashes: 0 }])
})

test('children that cannot be stored fail their parent only, and nothing of them is there', async ({ engines, client }) => {
  const parent = defineKind('parent', {
    payload: z.object({ child: z.unknown() }),
    run: ({ payload }) => ({ type: 'done', next: [note({ text: 'first' }), payload.child as never] }),
  })
  const engine = engines({ kinds: [note, parent] })
  const attempts = 1
  const bad = await engine.enqueueMany([
    parent({ child: { kind: 'nobody.knows', payload: {} } }, { attempts }),
    parent({ child: { kind: 'note', payload: { text: 'fine' }, options: { key: '' } } }, { attempts }),
    parent({ child: {} }, { attempts }),
  ])
  const good = await engine.enqueueMany([1, 2].map(() => parent({ child: { kind: 'note', payload: { text: 'fine' } } })))
  await engine.start()
  for (const { id } of bad) await eventually(async () => (await engine.find(id))?.state === 'failed')
  for (const { id } of good) await eventually(async () => (await engine.find(id))?.state === 'succeeded')
  await eventually(
    async () => (await client.query(`select from sluice.job where shelf is distinct from 'failed'`)).rowCount === 0,
  )
  const { rows } = await client.query<{ parent: string }>('select parent from sluice.job_ledger where parent is not null')
  expect(rows.map((row) => Number(row.parent)).toSorted((a, b) => a - b)).toEqual(good.flatMap(({ id }) => [id, id]))
})
