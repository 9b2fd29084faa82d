import { userInfo } from 'node:os'
import { createEngine, defineKind } from '@sluice/engine'
import { expect } from 'vitest'
import { test } from '../../../../test/support/sluice.ts'

test('[O-09] what is changed by the command line is in the audit log: who, what, on what, and how it went', async ({
  sluice,
  client,
}) => {
  await sluice(['migrate'])
  const entries = async () => {
    const { rows } = await client.query<Record<string, unknown>>(
      'select action, target, outcome, detail, caller_kind, caller_id, caller_name from sluice.audit order by id',
    )
    await client.query('delete from sluice.audit')
    return rows
  }
  const who = { caller_kind: 'cli', caller_id: 'cli', caller_name: userInfo().username }
  const done = (action: string, target: string, detail: object = {}) => ({
    action,
    target,
    outcome: 'done',
    detail: { source: 'cli', ...detail },
    ...who,
  })
  expect((await sluice(['owners', 'pause', 'ada', '--reason', 'on holiday'])).code).toBe(0)
  expect((await sluice(['owners', 'resume', 'ada'])).code).toBe(0)
  expect(await entries()).toEqual([done('owners.pause', 'ada', { reason: 'on holiday' }), done('owners.resume', 'ada')])
  expect((await sluice(['runs', 'cancel', '99'])).code).toBe(3)
  expect(await entries()).toEqual([{ ...done('runs.cancel', '99', { code: 'UNKNOWN_RUN' }), outcome: 'failed' }])
  const token = `ghp_${'x'.repeat(36)}`
  expect((await sluice(['users', 'remove', token, '--yes'])).code).toBe(2)
  expect(JSON.stringify(await entries())).not.toContain(token)
  for (const looking of [
    ['jobs', 'list'],
    ['owners', 'list'],
    ['strategy'],
    ['jobs', 'bulk', 'cancel', '--kind', 'x', '--dry-run'],
  ])
    await sluice(looking)
  expect(await entries()).toEqual([])
})

test('[O-09] where a program has an engine of its own and no audit log, commands steer it all the same', async ({
  sluice,
  database,
}) => {
  const idle = defineKind('idle', { run() {} })
  const engine = createEngine({ database: database.url, kinds: [idle], pools: {} })
  const { id } = await engine.enqueue(idle({}))
  await engine.stop()
  expect(await sluice(['jobs', 'cancel', String(id)])).toMatchObject({ code: 0, err: '' })
})
