import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { test } from '../../../../test/support/sluice.ts'

test('[O-06] the demo does its work, says how it went, and leaves nothing behind', async ({ folder, sluice }) => {
  const said = await sluice(['demo', '--exit', '--jobs', '30', '--json'], { env: { DATABASE_URL: undefined, TMPDIR: folder } })
  expect(said.code, said.err).toBe(0)
  expect(JSON.parse(said.out)).toMatchObject({ jobs: 30, succeeded: 30, failed: 0 })
  // Nobody is sent to an address that is gone.
  expect(said.out + said.err).not.toContain('http://')
  expect(readdirSync(folder)).toEqual([])
})
