import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../../../test/support/small-github.ts'

test('[C-01] users are added from a file, from standard input or from the environment, shown without their token, and removed', async ({
  sluice,
  folder,
  github: { env, envOf, sim },
}) => {
  const bare = { ...env, GITHUB_TOKEN: undefined }
  await sluice(['migrate'], { env })
  expect(await sluice(['users', 'list'], { env })).toMatchObject({
    code: 0,
    err: expect.stringContaining('Nobody is registered'),
  })
  writeFileSync(join(folder, 'token'), `${sim.tokenOf('acorn')}\n`)
  const added = await sluice(['users', 'add', 'Acorn', '--token-file', 'token', '--json'], { env: bare })
  expect(added.code, added.err).toBe(0)
  expect(JSON.parse(added.out)).toMatchObject({ login: 'acorn', tokenState: 'ok' })
  const other = await sluice(['users', 'add', 'birch', '--token-file', '-'], { env: bare, input: `${sim.tokenOf('birch')}\n` })
  expect(other, other.err).toMatchObject({ code: 0, out: expect.stringContaining('birch is registered') })
  expect((await sluice(['users', 'add', 'birch'], { env: envOf('birch') })).code).toBe(4)
  const listed = await sluice(['users', 'list'], { env })
  const shown = await sluice(['users', 'show', 'acorn'], { env })
  expect(listed.out).toMatch(/acorn .* ok/)
  expect(shown.out).toMatch(/^token +ok$/m)
  for (const { out, err } of [added, other, listed, shown]) expect(out + err).not.toContain('ghp_')

  const token = sim.tokenOf('acorn')
  for (const args of [
    ['users', 'add', 'acorn', '--token', token],
    ['users', 'rotate', 'acorn', `--token=${token}`],
    ['collect', 'acorn', '--token', token],
  ]) {
    const told = await sluice(args, { env })
    expect(told).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/history of the shell.*GITHUB_TOKEN.*--token-file -/s),
    })
    expect(told.err).not.toContain(token)
  }
  const fresh = sim.chaos.issueToken('acorn', `ghp_${'f'.repeat(36)}`)
  expect(await sluice(['users', 'rotate', 'acorn'], { env: { ...env, GITHUB_TOKEN: fresh } })).toMatchObject({
    code: 0,
    out: 'acorn has a new token.\n',
  })
  expect(await sluice(['users', 'remove', 'acorn'], { env })).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect((await sluice(['users', 'remove', 'acorn', '--yes'], { env })).code).toBe(0)
  expect((await sluice(['users', 'show', 'acorn'], { env })).code).toBe(3)
})

test('[C-12] [C-15] what was collected has a score and a history, and can be exported', async ({
  sluice,
  folder,
  github: { env, sim },
}) => {
  expect((await sluice(['collect', 'acorn'], { env })).code).toBe(0)
  const board = await sluice(['scores'], { env })
  expect(board.out).toMatch(/^#\s+login\s+score[\s\S]*1\s+acorn\s+\d/)
  const one = JSON.parse((await sluice(['scores', 'acorn', '--json'], { env })).out)
  expect(one).toMatchObject({ user: { login: 'acorn' }, history: [{ run: 1, score: one.score }] })

  const truth = sim.world.groundTruth('acorn')
  const shas = Object.values(truth?.commits ?? {}).flatMap((all) => all.map(({ sha }) => sha))
  const jsonl = await sluice(['export', 'acorn', '--what', 'commits'], { env })
  const rows = jsonl.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows.map(({ sha }): string => sha).toSorted()).toEqual(shas.toSorted())
  const csv = await sluice(['export', 'acorn', '--what', 'repositories', '--format', 'csv', '--out', 'r.csv'], { env })
  expect(csv, csv.err).toMatchObject({ code: 0, out: expect.stringContaining('r.csv') })
  expect(readFileSync(join(folder, 'r.csv'), 'utf8').trim().split(/\r?\n/)).toHaveLength(1 + (truth?.repositories.length ?? 0))
  expect(existsSync(join(folder, 'r.csv.part'))).toBe(false)
  expect(await sluice(['export', 'acorn', '--out', 'no/such/folder'], { env })).toMatchObject({ code: 2 })
})

test('[G-07] github-sim tells its addresses and tokens, and ends when told to', async ({ start }) => {
  const sim = start(['github-sim', '--people', 'acorn,birch', '--commits', '20', '--json'])
  const said: any = await sim.ready()
  expect(said.tokens.map(({ login }: { login: string }) => login)).toEqual(['acorn', 'birch'])
  const answer = await fetch(`${said.url}/user`, {
    headers: { authorization: `Bearer ${said.tokens[0].token}`, 'user-agent': 'test' },
  })
  expect(await answer.json()).toMatchObject({ login: 'acorn' })
  expect((await fetch(`${said.adminUrl}/truth/birch`)).status).toBe(200)
  sim.signal('SIGTERM')
  expect((await sim.ended).code).toBe(0)
})

test('[O-06] where nothing was collected yet, whoever looks is told what to do first, and no database is made', async ({
  sluice,
  folder,
}) => {
  for (const args of [['scores'], ['users', 'list'], ['export', 'acorn'], ['shadow', 'acorn'], ['strategy']])
    expect(await sluice(args, { env: { DATABASE_URL: undefined } })).toMatchObject({
      code: 5,
      err: expect.stringContaining('`GITHUB_TOKEN=… sluice collect LOGIN` makes one and collects'),
    })
  expect(readdirSync(folder)).toEqual([])
})
