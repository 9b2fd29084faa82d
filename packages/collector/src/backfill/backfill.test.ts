/** The past, read once more. */
import { expect, test as pure } from 'vitest'
import { test } from '../../../../test/support/collecting.ts'
import { eventually } from '../../../../test/support/database.ts'
import { countSlices, sliceAt } from './slices.ts'

pure('[C-16] slices cover [from, to) without gap and overlap, and the last one may be shorter', () => {
  const range = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-01-03T06:00:00Z') }
  expect(countSlices(range, 'day')).toBe(3)
  const slices = [0, 1, 2].map((at) => sliceAt(range, 'day', at))
  expect(slices[0]?.from).toEqual(range.from)
  expect(slices[1]?.from).toEqual(slices[0]?.to)
  expect(slices[2]).toEqual({ from: new Date('2026-01-03T00:00:00Z'), to: range.to })
  expect(sliceAt(range, 'day', 3)).toBeUndefined()
})

test('[C-16] a backfill brings back what is missing in its stretch, asks for no events, and cursors stay', async ({
  collecting,
  client,
}) => {
  const { sim, collect, difference, collector, engine, userId, spent } = await collecting()
  await collect()
  const { rows } = await client.query(`select max(committed_at) as newest from collector.commit`)
  const to = new Date((rows[0] as { newest: Date }).newest.getTime() + 1_000)
  const from = new Date(to.getTime() - 20 * 86_400_000)
  const lost = await client.query(`delete from collector.commit where committed_at >= $1 returning sha`, [from])
  await client.query(`delete from collector.issue where updated_at >= $1`, [from])
  expect(lost.rows.length).toBeGreaterThan(0)
  const cursors = async () =>
    (await client.query(`select resource, subject, since from collector.cursor where resource <> 'commits' order by 1, 2`)).rows
  const before = await cursors()
  sim.oracle.reset()
  const { run } = await collector.backfill(userId, { from, to, slice: 'day' })
  await eventually(async () => (await engine.runs.find(run))?.state === 'completed', 60_000)
  expect(await engine.runs.find(run)).toMatchObject({ failed: 0 })
  expect(await difference()).toEqual([])
  expect(await cursors()).toEqual(before)
  expect(sim.oracle.entries().some(({ path }) => path.includes('/events'))).toBe(false)
  spent()
  expect(await collect()).toMatchObject({ state: 'completed', failed: 0 })
  expect(await difference()).toEqual([])
})

test('[C-16] a stretch that makes no sense is refused', async ({ collecting }) => {
  const { collector, userId } = await collecting({ start: false })
  const now = new Date()
  await expect(collector.backfill(userId, { from: now, to: now, slice: 'day' })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  })
  const long = { from: new Date(0), to: now, slice: 'hour' as const }
  await expect(collector.backfill(userId, long)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})
