import { expect } from 'vitest'
import { test } from '../../../../test/support/small-github.ts'

test('[C-13] two strategies are compared in one command, and the report can be read again', async ({
  sluice,
  github: { env },
}) => {
  expect((await sluice(['collect', 'acorn'], { env })).code).toBe(0)
  expect((await sluice(['shadow', 'acorn', '--last'], { env })).code).toBe(3)
  expect((await sluice(['shadow', 'acorn', '--strategies', 'rest'], { env })).code).toBe(2)
  const cost = JSON.parse((await sluice(['shadow', 'acorn', '--dry-run', '--json'], { env })).out)
  expect(cost.outlook.sides).toMatchObject([{ strategy: 'graphql' }, { strategy: 'rest', units: { core: expect.any(Number) } }])
  expect(cost.outlook.sides[1].units.core).toBeGreaterThan(120)
  expect((await sluice(['shadow', 'acorn', '--last'], { env })).code).toBe(3)
  const shown = await sluice(['shadow', 'acorn'], { env })
  expect(shown.code, shown.err).toBe(0)
  expect(shown.err).toMatch(/^Units it will cost: graphql about .*; rest about \d+ core and \d+ graphql\.$/m)
  expect(shown.err).toMatch(/^graphql (?<ended>\d+) of \k<ended> jobs; rest (?<others>\d+) of \k<others> jobs; /m)
  expect(shown.out).toMatch(/^ +graphql +rest$/m)
  expect(shown.out).toMatch(/^took .*\njobs +\d+ +\d+$/m)
  expect(shown.out).toMatch(/^commits +120 +120$/m)
  expect(shown.out).toMatch(/^issues: \d+ differ \(.*closed_by_id in \d+\)/m)
  const last = JSON.parse((await sluice(['shadow', 'acorn', '--last', '--json'], { env })).out)
  expect(last).toMatchObject({ user: { login: 'acorn' }, report: { sides: [{ strategy: 'graphql' }, { strategy: 'rest' }] } })
})

test('[C-13] [C-14] with --json a comparison tells its cost, each step and its end, a document a line', async ({
  sluice,
  github: { env },
}) => {
  expect((await sluice(['collect', 'acorn'], { env })).code).toBe(0)
  const said = await sluice(['shadow', 'acorn', '--json'], { env })
  expect(said.code, said.err).toBe(0)
  const lines: any[] = said.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ type: 'outlook', outlook: { quota: [{ resource: 'core' }, { resource: 'graphql' }] } })
  expect(lines.length).toBeGreaterThan(2)
  for (const line of lines.slice(1, -1))
    expect(line).toMatchObject({ type: 'progress', sides: [{ strategy: 'graphql' }, { strategy: 'rest' }] })
  expect(lines.at(-1)).toMatchObject({ type: 'end', user: { login: 'acorn' }, report: { sides: [{}, {}] } })
})

test('[C-18] strategies are shown and switched, for one and for all', async ({ sluice, github: { env } }) => {
  await sluice(['migrate'], { env })
  expect((await sluice(['users', 'add', 'acorn', '--no-collect'], { env })).code).toBe(0)
  expect((await sluice(['strategy'], { env })).out).toBe('Everybody without a strategy of their own: graphql\n')
  expect((await sluice(['strategy', 'rest', '--reason', 'to try'], { env })).out).toMatch(
    /: rest, watched[\s\S]*person +watching +to try/,
  )
  expect((await sluice(['strategy', 'acorn'], { env })).out).toContain('acorn: rest, the one for all')
  expect(JSON.parse((await sluice(['strategy', 'acorn', 'graphql', '--json'], { env })).out)).toMatchObject({
    user: { login: 'acorn' },
    strategy: 'graphql',
    chosen: 'graphql',
    switches: [{ from: 'rest', to: 'graphql', state: 'watching' }],
  })
  expect((await sluice(['strategy', 'acorn', 'default'], { env })).out).toContain('acorn: rest, the one for all')
  expect((await sluice(['strategy', 'acorn', 'soap'], { env })).code).toBe(2)
  expect((await sluice(['strategy', 'nobody', 'rest'], { env })).code).toBe(3)
})
