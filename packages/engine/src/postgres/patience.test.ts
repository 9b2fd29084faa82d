/** Transactions share connections that are open, and get more when they have to wait. */
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'

test('[E-09] short transactions that come together share few connections, long ones get one each, up to the limit', async ({
  engines,
  client,
}) => {
  const engine = engines({ poolMax: 4 })
  await engine.migrate()
  const open = async (): Promise<number> =>
    (await client.query(`select from pg_stat_activity where application_name = 'sluice pool' and datname = current_database()`))
      .rowCount ?? 0
  await engine.transaction((tx) => tx.query('select 1'))
  await Promise.all(Array.from({ length: 12 }, () => engine.transaction((tx) => tx.query('select 1'))))
  expect(await open()).toBeLessThan(4)

  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => void (letGo = resolve))
  let [begun, ended] = [0, 0]
  const long = Array.from({ length: 6 }, () =>
    engine.transaction(async (tx) => {
      await tx.query('select 1')
      begun++
      await gate
      ended++
    }),
  )
  await eventually(() => begun === 4)
  expect(await open()).toBe(4)
  letGo()
  await Promise.all(long)
  expect(ended).toBe(6)
})
