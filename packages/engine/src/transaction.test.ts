import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { z } from 'zod'
import { test } from '../../../test/support/database.ts'
import { defineKind } from './job/kind.ts'

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
