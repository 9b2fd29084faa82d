import { readdirSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { draw, hasTerminal } from '../../../../test/support/pseudo-terminal.ts'
import { eventually, type Said } from '../../../../test/support/sluice.ts'
import { test } from '../../../../test/support/small-github.ts'

const linesOf = ({ out }: Said): any[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('[C-14] sluice collect', () => {
  test('[C-01] [C-14] registers, collects by itself where nobody works, tells each step, and never shows the token', async ({
    sluice,
    github: { env, token, sim },
  }) => {
    const said = await sluice(['collect', 'acorn', '--json'], { env })
    expect(said.code, said.err).toBe(0)
    const lines = linesOf(said)
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.slice(0, -1).every(({ type }) => type === 'progress')).toBe(true)
    expect(lines.at(-1)).toMatchObject({
      type: 'end',
      user: { login: 'acorn', tokenState: 'ok', lastRun: lines.at(-1).run.id },
      run: { state: 'completed', trigger: 'signup' },
      quota: expect.arrayContaining([expect.objectContaining({ resource: 'graphql', remaining: expect.any(Number) })]),
      statistics: { commits: expect.any(Number), score: expect.any(Number) },
    })
    expect(said.out + said.err).not.toContain(token)
    // Every view counts the same jobs: the plan and whatever it led to, without the finalizer.
    const { jobs, kinds, run: ended } = lines.at(-1)
    expect(jobs).toMatchObject({ done: jobs.total, failed: 0 })
    expect(kinds.reduce((sum: number, { total }: { total: number }) => sum + total, 0)).toBe(jobs.total)
    const shown = JSON.parse((await sluice(['runs', 'show', String(ended.id), '--json'], { env })).out)
    expect(shown).toMatchObject({ total: jobs.total, succeeded: jobs.total, progress: { looked: { rows: jobs.total } } })
    const before = sim.oracle.summary().units
    const second = linesOf(await sluice(['collect', 'acorn', '--json'], { env })).at(-1)
    expect(second.run.id).toBeGreaterThan(ended.id)
    expect(second.user.lastRun).toBe(second.run.id)
    const again = await sluice(['collect', 'ACORN'], { env: { ...env, GITHUB_TOKEN: undefined } })
    expect(again, again.err).toMatchObject({ code: 0, out: expect.stringMatching(/^Run \d+ completed in .*\nacorn scores /) })
    expect(sim.oracle.summary().units - before).toBeLessThanOrEqual(5)
  })

  test('[C-02] leaves the work to a worker that is there, and joins what is under way', async ({
    start,
    sluice,
    github: { env },
  }) => {
    const up = start(['up', '--port', '0', '--json'], { env })
    const { address } = await up.ready()
    const requested = await sluice(['collect', 'acorn', '--no-wait', '--json'], { env })
    expect(requested, requested.err).toMatchObject({ code: 0 })
    expect(JSON.parse(requested.out)).toMatchObject({ login: 'acorn', requested: true })
    const said = await sluice(['collect', 'acorn', '--json'], { env })
    expect(said.code, said.err).toBe(0)
    const workers: any = await (await fetch(`${address}/api/workers`)).json()
    expect(workers.items.filter(({ name }: { name: string }) => name.startsWith('alone'))).toEqual([])
  })

  test('[C-08] ends when GitHub refuses the token, says how to go on, and goes on with a new one', async ({
    sluice,
    github: { env, sim },
  }) => {
    expect((await sluice(['migrate'], { env })).code).toBe(0)
    expect((await sluice(['users', 'add', 'acorn', '--no-collect'], { env })).code).toBe(0)
    sim.chaos.revoke('acorn')
    const refused = await sluice(['collect', 'acorn'], { env: { ...env, GITHUB_TOKEN: undefined } })
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/GitHub refuses the token of acorn .*users rotate acorn/s),
    })
    const GITHUB_TOKEN = sim.chaos.reinstate('acorn', `ghp_${'n'.repeat(36)}`)
    const said = await sluice(['collect', 'acorn'], { env: { ...env, GITHUB_TOKEN } })
    expect(said, said.err).toMatchObject({ code: 0, err: expect.stringContaining('has a new token') })
  })

  test('[O-06] a first collection without a token or with a login that cannot be makes no database for nothing', async ({
    sluice,
    folder,
    github: { env },
  }) => {
    const bare = { ...env, DATABASE_URL: undefined }
    expect(await sluice(['collect', 'acorn'], { env: { ...bare, GITHUB_TOKEN: undefined } })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Set GITHUB_TOKEN'),
    })
    expect(await sluice(['collect', '@acorn'], { env: bare })).toMatchObject({
      code: 2,
      err: expect.stringContaining('leave out the @'),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('[O-06] what cannot work is refused with its own exit code and what to do', async ({ sluice, github: { env, envOf } }) => {
    const ask = (args: string[], more: Record<string, string | undefined> = {}) => sluice(args, { env: { ...env, ...more } })
    expect(await ask(['collect', 'acorn'], { GITHUB_TOKEN: undefined })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Set GITHUB_TOKEN'),
    })
    expect(await ask(['collect', 'acorn'], { GITHUB_TOKEN: 'hunter2' })).toMatchObject({
      code: 2,
      err: expect.not.stringContaining('hunter2'),
    })
    expect(await ask(['collect', 'acorn'], { GITHUB_TOKEN: envOf('birch')['GITHUB_TOKEN'] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('belongs to "birch"'),
    })
    expect(await ask(['collect', 'acorn'], { GITHUB_API_URL: 'http://127.0.0.1:1' })).toMatchObject({
      code: 5,
      err: expect.stringContaining('no usable answer at http://127.0.0.1:1:'),
    })
    expect(await ask(['scores', 'acorn'])).toMatchObject({ code: 3, err: expect.stringContaining('Nobody is registered') })
  })

  test.skipIf(!hasTerminal)(
    '[C-14] draws a bar for every kind, quota and time to go, no wider than the terminal',
    async ({ folder, database, github: { env, sim } }) => {
      // What is to go is drawn while something is.
      sim.chaos.script({ trouble: 'latency', ms: 300 })
      const drawn = draw(['collect', 'acorn'], { cwd: folder, env: { ...env, DATABASE_URL: database.url }, columns: 80 })
      expect(await drawn.ended).toBe(0)
      // oxlint-disable-next-line no-control-regex -- what moves the cursor and colours the text
      const text = drawn.screen.replaceAll(/\u001B\[[\d;?]*[A-Za-z]/g, '')
      expect(text).toMatch(/^commits +━+─* +\d+\/\d+/m)
      expect(text).toMatch(/quota +(?:core|graphql) [\d,]+(?: of [\d,]+)? left/)
      expect(text).toContain('to go')
      expect(text).toMatch(/acorn scores /)
      const bars = text.split(/\r?\n/).filter((line) => /[━─]/.test(line))
      expect(Math.max(...bars.map((line) => line.length))).toBeLessThanOrEqual(80)
      expect(drawn.screen.lastIndexOf('\u001B[?25h')).toBeGreaterThan(drawn.screen.lastIndexOf('\u001B[?25l'))
    },
  )

  test('[C-14] interrupted while it works alone, it says that it goes on where it was, and does', async ({
    start,
    sluice,
    github: { env, sim },
  }) => {
    sim.chaos.script({ trouble: 'latency', ms: 300 })
    const collecting = start(['collect', 'acorn'], { env })
    await eventually(() => sim.oracle.summary().requests > 2)
    collecting.signal('SIGINT')
    expect(await collecting.ended).toMatchObject({ code: 130, err: expect.stringContaining('goes on where it was') })
    sim.chaos.clear()
    const said = await sluice(['collect', 'acorn', '--json'], { env })
    expect(said.code, said.err).toBe(0)
    expect(linesOf(said).at(-1)).toMatchObject({ run: { id: 1, state: 'completed' } })
  })
})
