import { test } from '../../../../test/support/database.ts'
import { defineSchedule } from '../schedule/schedule.ts'
import { createTestKit } from './test-kit.ts'
test('probe', async ({ database, client }) => {
  const stray = defineSchedule('stray', { cron: '@daily', job: { kind: 'stranger', payload: {} } })
  await createTestKit({ database: database.url, kinds: [], schedules: [stray] }).catch((e) => console.log(String(e)))
  console.log((await client.query(`select application_name, datname, state, query from pg_stat_activity where datname = current_database()`)).rows)
  const kit = await createTestKit({ database: database.url, kinds: [] })
  console.log((await client.query(`select application_name, datname, state, query from pg_stat_activity where datname = current_database()`)).rows)
  await kit.close()
})
