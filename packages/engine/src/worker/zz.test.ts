import { test, eventually } from '../../../../test/support/database.ts'
import { defineKind } from '../job/kind.ts'
test('probe', async ({ engines, client }) => {
  const ends: (() => void)[] = []
  const ranOn: string[] = []
  const make = (name: string) => [
    defineKind('quick', { run: async () => { await Promise.resolve() } }),
    defineKind('mark', { run: async () => { ranOn.push(name) } }),
    defineKind('slow', { run: () => new Promise<void>((r) => void ends.push(r)) }),
  ] as const
  const a = make('a'); const b = make('b')
  const A = engines({ kinds: [...a], pools: { light: { core: 5, max: 10 } } })
  const B = engines({ kinds: [...b], pools: { light: { core: 5, max: 10 } } })
  await A.enqueueMany([...Array.from({ length: 3000 }, () => a[0]({})), ...Array.from({ length: 10 }, () => a[2]({})), ...Array.from({ length: 300 }, () => a[1]({}))])
  await A.start()
  await eventually(() => ends.length === 10)
  await B.start()
  for (let i = 0; i < 12; i++) {
    const { rows } = await client.query(`select state, kind, worker, count(*)::int from sluice.job group by 1,2,3 order by 1,2,3`)
    console.log(JSON.stringify(rows), ranOn.filter((x) => x === 'a').length, ranOn.filter((x) => x === 'b').length)
    await new Promise((r) => setTimeout(r, 1000))
  }
  for (const e of ends) e()
}, 40000)
