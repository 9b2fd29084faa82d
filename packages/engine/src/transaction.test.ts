import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { z } from 'zod'
import { eventually, test } from '../../../test/support/database.ts'
import { defineEvent } from './event/event.ts'
import { defineKind } from './job/kind.ts'
import { done } from './job/outcome.ts'
import { exponential, once } from './job/retry.ts'
import { defineRun } from './run/run-kind.ts'

const mail = defineKind('mail', { payload: z.object({ to: z.string() }), run: () => {} })

test('[E-02] a change and the jobs that follow from it commit together, or neither is there', async ({ engines, client }) => {
  await client.query('create table member (name text)')
  const engine = engines({ kinds: [mail] })
  const join = (name: string, then: () => void) =>
    engine.transaction(async (tx) => {
      await tx.query('insert into member values ($1)', [name])
      await engine.enqueue(mail({ to: name }), { client: tx })
      then()
    })
  await join('kept', () => {})
  await expect(
    join('lost', () => {
      throw new Error('changed my mind')
    }),
  ).rejects.toThrow('changed my mind')
  const { rows } = await engine.query(sql`select name, payload ->> 'to' as "to", id from member join sluice.job on true`)
  expect(rows).toEqual([{ name: 'kept', to: 'kept', id: expect.any(Number) }])
})

test('[E-23] a handler that still runs while its process stops may read and enqueue, and nobody may afterwards', async ({
  engines,
  client,
}) => {
  let start = () => {}
  let goOn = () => {}
  const started = new Promise<void>((resolve) => void (start = resolve))
  const asked = new Promise<void>((resolve) => void (goOn = resolve))
  const slow = defineKind('slow', {
    async run() {
      start()
      await asked
      await engine.query(sql`select 1`)
      await engine.enqueue(mail({ to: 'ann' }))
    },
  })
  const engine = engines({ kinds: [slow, mail], grace: '30s' })
  await engine.start()
  const { id } = await engine.enqueue(slow({}))
  await started
  const stopping = engine.stop()
  goOn()
  await stopping
  const { rows } = await client.query('select state::text, attempt from sluice.job_ledger where id = $1', [id])
  expect(rows).toEqual([{ state: 'succeeded', attempt: 1 }])
  await expect(engine.query(sql`select 1`)).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test.for([
  'commit',
  '  ROLLBACK',
  'begin',
  'start transaction read only',
  '-- all of it\nend',
  '/* now */ abort',
  `prepare transaction 'x'`,
  `set search_path to nowhere`,
  `SET SESSION work_mem = '1GB'`,
  'discard all',
])('[E-09] %j is refused in a transaction that the engine lends, and nothing of it is stored', async (statement, { engines }) => {
  const engine = engines({})
  await engine.query(sql`create table note (text text)`)
  const lent = engine.transaction(async (tx) => {
    await tx.query(`insert into note values ('lost')`)
    await tx.query(statement)
  })
  await expect(lent).rejects.toMatchObject({ code: 'TRANSACTION_NOT_YOURS' })
  const { rows } = await engine.query(
    sql`select text, current_setting('search_path') as path from note right join (values (1)) as one on true`,
  )
  expect(rows).toEqual([{ text: null, path: 'public' }])
})

test('[E-09] savepoints and local settings are the borrower’s own', async ({ engines }) => {
  const engine = engines({})
  await engine.query(sql`create table note (text text)`)
  await engine.transaction(async (tx) => {
    await tx.query(`set local search_path to public`)
    await tx.query(`set constraints all deferred`)
    await tx.query(`insert into note values ('kept')`)
    await tx.query('savepoint before')
    await expect(tx.query('insert into nowhere values (1)')).rejects.toMatchObject({ code: '42P01' })
    await tx.query('rollback to before')
    await tx.query('insert into note values ($1)', ['kept too'])
  })
  expect((await engine.query(sql`select text from note`)).rows).toEqual([{ text: 'kept' }, { text: 'kept too' }])
})

test.for([`insert into note values ('by itself'); commit`, `insert into note values ('by itself'); rollback; begin`])(
  '[E-09] a write that ends its transaction in disguise fails, and what was to come of it does not: %j',
  async (text, { engines }) => {
    const sneaky = defineKind('sneaky', {
      retry: once,
      run: () => done({ write: (tx) => tx.query(text).catch(() => {}), next: [mail({ to: 'nobody' })] }),
    })
    const engine = engines({ kinds: [sneaky, mail] })
    await engine.query(sql`create table note (text text)`)
    await engine.start()
    const { id } = await engine.enqueue(sneaky({}))
    await eventually(async () => (await engine.find(id))?.state === 'failed')
    expect(await engine.find(id)).toMatchObject({ error: { code: 'TRANSACTION_NOT_YOURS' } })
    expect((await engine.query(sql`select kind from sluice.job union all select kind from sluice.job_ledger`)).rows).toEqual([
      { kind: 'sneaky' },
    ])
  },
)

test('[E-09] a query that nobody waited for never lands in another transaction: it is waited for, or refused', async ({
  engines,
  client,
}) => {
  await client.query('create table note (text text)')
  const late: Promise<unknown>[] = []
  const engine = engines({})
  await engine.transaction(async (tx) => {
    void tx.query('select pg_sleep(0.2)')
    void tx.query(`insert into note values ('in time')`)
    late.push(new Promise((resolve) => setTimeout(resolve, 600)).then(() => tx.query(`insert into note values ('too late')`)))
  })
  await expect(late[0]).rejects.toMatchObject({ code: 'TRANSACTION_OVER' })
  const failing = engine.transaction(async (tx) => {
    await tx.query(`insert into note values ('rolled back')`)
    void tx.query('insert into nowhere values (1)') // nobody waits for it, and nobody dies of it
  })
  await expect(failing).rejects.toThrow('nowhere')
  expect((await client.query('select text from note')).rows).toEqual([{ text: 'in time' }])
})

test('[E-09] a write that does not wait for its query fails its attempt, not its process, when that fails', async ({
  engines,
  client,
}) => {
  await client.query('create table note (text text)')
  const forgetful = defineKind('forgetful', {
    payload: z.object({ table: z.string() }),
    retry: once,
    run: ({ payload: { table } }) =>
      done({
        write: async (tx) => {
          void tx.query(`insert into ${table} values ('x')`)
        },
      }),
  })
  const engine = engines({ kinds: [forgetful] })
  await engine.start()
  await engine.enqueueMany([forgetful({ table: 'note' }), forgetful({ table: 'nowhere' })])
  await eventually(async () => (await engine.failed()).length === 1)
  expect((await engine.failed())[0]).toMatchObject({
    payload: { table: 'nowhere' },
    error: { message: expect.stringContaining('nowhere') },
  })
  await eventually(async () => (await client.query('select from note')).rowCount === 1)
})

test('[E-02] an option with a typing error is refused: what was meant for a transaction does not slip out of it', async ({
  engines,
  client,
}) => {
  const walk = defineRun('walk', { plan: () => {} })
  const engine = engines({ kinds: [mail], runs: [walk] })
  await engine.migrate()
  const typo = { clinet: client } as never
  const job = mail({ to: 'ann' })
  const calls: (() => Promise<unknown>)[] = [
    () => engine.enqueue(job, typo),
    () => engine.enqueueMany([job], typo),
    () => engine.publish({ event: 'x', payload: {} }, typo),
    () => engine.runs.start(walk({}), typo),
    () => engine.pause({ scope: 'kind', name: 'mail' }, 'why', typo),
    () => engine.enqueue(job, { client: {} } as never),
    () => engine.pause({ scope: 'kinds', name: 'mail' } as never),
    () => engine.cancel(1, 'why' as never),
    () => engine.runs.ended(1, { timeout: 5 } as never),
    () => engine.runs.ended({ id: 1 } as never),
    () => engine.find('abc' as never),
    () => engine.runs.start(mail({ to: 'ann' }) as never),
    () => engine.enqueue({ to: 'ann' } as never),
    () => engine.enqueue(mail as never),
    () => engine.enqueue(undefined as never),
    () => engine.enqueueMany(job as never),
    async () => walk({}, { onwer: 'ann' } as never),
    async () => defineEvent('paid', { payloads: {} } as never),
    async () => exponential({ frist: '1h' } as never),
  ]
  for (const call of calls)
    await expect(Promise.resolve().then(call), call.toString()).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  expect((await client.query('select from sluice.job')).rowCount).toBe(0)
  await expect(engine.pause({ scope: 'kind', name: 'mial' })).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
  await expect(engine.runs.start({ kind: 'walk.nothing', payload: {} })).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
})

test('[E-02] a transaction in which a statement failed does not resolve, even if nobody listened', async ({
  engines,
  client,
}) => {
  const engine = engines({ kinds: [mail] })
  const swallowed = engine.transaction(async (tx) => {
    const { id } = await engine.enqueue(mail({ to: 'ann' }), { client: tx })
    await tx.query('select 1 / 0').catch(() => {})
    return id
  })
  await expect(swallowed).rejects.toMatchObject({ code: '22012' })
  expect((await client.query('select from sluice.job')).rowCount).toBe(0)
  const { id } = await engine.transaction(async (tx) => {
    await tx.query('savepoint before')
    await tx.query('select 1 / 0').catch(() => tx.query('rollback to before'))
    return engine.enqueue(mail({ to: 'ann' }), { client: tx })
  })
  expect(await engine.find(id)).toMatchObject({ state: 'ready' })
})
