/** Schedules as the command line shows them when nobody is there to fire them. */
import { defineKind, defineSchedule } from '@sluice/engine'
import { expect } from 'vitest'
import { test } from '../../../../test/support/sluice.ts'

test('[E-18] a schedule whose time is over without a leader is overdue, and says what to do', async ({
  sluice,
  engines,
  client,
}) => {
  const report = defineKind('report', { run: () => {} })
  const schedules = ['late', 'fine'].map((name) => defineSchedule(name, { cron: '0 3 * * *', zone: 'UTC', job: report({}) }))
  await sluice(['migrate'])
  await engines({ kinds: [report], schedules }).migrate()
  await client.query(`update sluice.schedule set next_at = now() - interval '1 hour' where name = 'late'`)
  const { out } = await sluice(['schedules', 'list'])
  expect(out).toMatch(/^late .* overdue .*1h ago/m)
  expect(out).toMatch(/^fine .* on .* in /m)
  expect((await sluice(['schedules', 'show', 'late'])).out).toMatch(
    /^why +its time is over and it has not fired: no process leads\./m,
  )
  expect((await sluice(['schedules', 'show', 'fine'])).out).not.toContain('no process leads')
})
