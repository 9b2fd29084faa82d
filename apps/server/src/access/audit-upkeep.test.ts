import { runHandler } from '@sluice/engine/testing'
import { expect, test } from 'vitest'
import { auditUpkeep } from './audit-upkeep.ts'

test.for([
  [30, 365],
  [400, 400],
])('[O-09] the audit log is kept for a year, or for as long as jobs are: %i days of jobs are %i of it', async ([jobs, audit]) => {
  const asked: number[] = []
  const { kind, schedule, bind } = auditUpkeep({ keepDays: jobs as number })
  await expect(runHandler(kind, {})).rejects.toThrow(/not bound/)
  bind({
    async prune({ keepDays }) {
      asked.push(keepDays)
      return 3
    },
  })
  await runHandler(kind, {})
  expect(asked).toEqual([audit])
  expect(schedule).toMatchObject({ name: 'sluice.prune-audit', overlap: 'forbid', job: { kind } })
})
