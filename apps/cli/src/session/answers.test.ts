import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ping } from '@sluice/server'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/support/sluice.ts'
import { exit } from './exit.ts'

const nowhere = { env: { DATABASE_URL: 'postgresql://127.0.0.1:1/none' } }

describe('[O-06] exit codes', () => {
  test('[O-06] the page about the command line lists every exit code', () => {
    const page = readFileSync(new URL('../../../../docs/cli.md', import.meta.url), 'utf8')
    const listed = [...page.matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code))
    expect(listed).toEqual(Object.values(exit))
  })

  test('[O-06] 0 and 1: migrate, and whether something is missing', async ({ sluice }) => {
    expect(await sluice(['migrate', '--check'])).toMatchObject({
      code: exit.failure,
      out: expect.stringContaining('0001_access.sql'),
    })
    expect(await sluice(['migrate'])).toMatchObject({ code: exit.ok, out: expect.stringContaining('Applied:') })
    expect(await sluice(['migrate', '--check'])).toMatchObject({ code: exit.ok, out: 'Up to date.\n' })
  })

  test('[O-06] 2: what is written wrong', async ({ sluice }) => {
    await sluice(['migrate'])
    for (const args of [
      ['jobs', 'show', 'x'],
      ['jobs', 'list', '--limit', '0'],
      ['jobs', 'list', '--cursor', 'nonsense'],
      ['jobs', 'enqueue', 'sluice.ping', '--payload', '{'],
      ['jobs', 'enqueue', 'sluice.ping', '--payload', '@nowhere.json'],
      ['jobs', 'enqueue', 'sluice.ping', '--payload', '{"unknown":1}'],
      ['jobs', 'enqueue', 'sluice.ping', '--delay', 'soon'],
      ['jobs', 'bulk', 'destroy'],
      ['jobs', 'bulk', 'cancel', '--yes'],
      ['lanes', 'hold', 'a'],
      ['completion', 'tcsh'],
      ['keys', 'create', 'a', '--role', 'god'],
    ]) {
      const said = await sluice(args)
      expect(said, args.join(' ')).toMatchObject({ code: exit.usage, out: '' })
      expect(said.err, args.join(' ')).toMatch(/^error: /)
      expect(said.err, args.join(' ')).not.toMatch(/\n\s+at /)
    }
  })

  test('[O-06] 3: what is not there', async ({ sluice }) => {
    await sluice(['migrate'])
    for (const args of [
      ['jobs', 'show', '99'],
      ['jobs', 'why', '99'],
      ['jobs', 'cancel', '99'],
      ['jobs', 'retry', '99'],
      ['jobs', 'enqueue', 'no.such.kind'],
      ['jobs', 'list', '--run', '99'],
      ['runs', 'show', '99'],
      ['runs', 'cancel', '99'],
      ['runs', 'start', 'no.such.kind'],
      ['lanes', 'show', 'none'],
      ['lanes', 'pause', 'none'],
      ['kinds', 'pause', 'none'],
      ['kinds', 'resume', 'none'],
      ['pools', 'pause', 'none'],
      ['pools', 'resume', 'none'],
      ['schedules', 'show', 'none'],
      ['schedules', 'run', 'none'],
      ['events', 'publish', 'none'],
      ['keys', 'revoke', 'none'],
    ])
      expect(await sluice(args), args.join(' ')).toMatchObject({ code: exit.notFound })
  })

  test('[O-06] 4: not in this state', async ({ sluice, engines }) => {
    await sluice(['migrate'])
    const { id } = await engines({ kinds: [ping] }).enqueue(ping({}))
    expect(await sluice(['jobs', 'retry', String(id)])).toMatchObject({
      code: exit.conflict,
      out: expect.stringContaining('not failed'),
    })
  })

  test('[O-06] 5: no database, or one that does not answer; 1: one without a schema', async ({ sluice, client }) => {
    expect(await sluice(['status'], nowhere)).toMatchObject({
      code: exit.unavailable,
      out: '',
      err: expect.stringMatching(/^error: PostgreSQL does not answer/),
    })
    expect(await sluice(['status'], { env: { DATABASE_URL: undefined } })).toMatchObject({
      code: exit.unavailable,
      err: expect.stringContaining('Run `sluice up`'),
    })
    await client.query('drop schema sluice cascade')
    expect(await sluice(['status'])).toMatchObject({ code: exit.failure, err: expect.stringContaining('Run `sluice migrate`') })
  })
})

describe('[O-06] the database of a program with an engine of its own', () => {
  test('[O-06] commands that look and steer work there; those that need the server say what to do', async ({
    sluice,
    engines,
    client,
  }) => {
    const engine = engines({ kinds: [ping], pools: {} })
    await engine.migrate()
    for (const args of [
      ['status'],
      ['jobs', 'list'],
      ['jobs', 'enqueue', 'sluice.ping'],
      ['runs', 'list'],
      ['kinds', 'pause', 'sluice.ping'],
      ['pools', 'list'],
      ['lanes', 'list'],
      ['owners', 'list'],
      ['schedules', 'list'],
      ['events', 'list'],
      ['workers', 'list'],
    ])
      expect(await sluice(args), args.join(' ')).toMatchObject({ code: exit.ok })
    for (const args of [['list'], ['create', 'a'], ['revoke', 'a']])
      expect(await sluice(['keys', ...args]), args.join(' ')).toMatchObject({
        code: exit.failure,
        err: expect.stringMatching(/lacks 0001_access\.sql.*Run `sluice migrate`/),
      })
    const doctor = JSON.parse((await sluice(['doctor', '--json'])).out)
    expect(doctor.checks).toContainEqual(expect.objectContaining({ check: 'schema', state: 'warn', fix: 'sluice migrate' }))
    expect(doctor.checks).toContainEqual(expect.objectContaining({ check: 'leader', state: 'warn' }))
    const newest = '(select max(number) from sluice.migration)'
    await client.query(`delete from sluice.migration where package = 'engine' and number = ${newest}`)
    expect(await sluice(['status'])).toMatchObject({ code: exit.failure, err: expect.stringContaining('Run `sluice migrate`') })
  })
})

describe('[O-06] output', () => {
  test('[O-06] data is on standard output and nothing else is; an error is a document with --json', async ({ sluice }) => {
    await sluice(['migrate'])
    const empty = await sluice(['jobs', 'list'])
    expect([empty.out, empty.err]).toEqual(['', 'No job fits.\n'])
    const listed = await sluice(['jobs', 'list', '--json'])
    expect([JSON.parse(listed.out), listed.err]).toEqual([{ items: [], next: null }, ''])
    const missing = await sluice(['jobs', 'show', '99', '--json'])
    for (const wrong of [
      ['jobs', 'lst'],
      ['jbos'],
      ['jobs', 'show'],
      ['jobs', 'show', 'abc'],
      ['jobs', 'list', '--limit', '0'],
    ]) {
      const { code, out, err } = await sluice([...wrong, '--json'])
      expect([code, out, JSON.parse(err)], wrong.join(' ')).toEqual([
        2,
        '',
        { error: { code: 'USAGE', message: expect.stringMatching(/^[^{]+$/) } },
      ])
    }
    expect(missing.out).toBe('')
    expect(JSON.parse(missing.err)).toEqual({
      error: { code: 'UNKNOWN_JOB', message: expect.stringContaining('There is no job 99') },
    })
  })

  test('[O-06] stacks are shown with --debug only', async ({ sluice }) => {
    expect((await sluice(['status'], nowhere)).err).not.toMatch(/\n\s+at /)
    expect((await sluice(['status', '--debug'], nowhere)).err).toMatch(/\n\s+at /)
  })

  test('[O-06] colours come and go with the environment', async ({ sluice }) => {
    const colours = async (env: Record<string, string>): Promise<boolean> =>
      (await sluice(['config'], { env })).out.includes('\u001B[')
    expect(await colours({})).toBe(false)
    expect(await colours({ FORCE_COLOR: '1' })).toBe(true)
    expect(await colours({ FORCE_COLOR: '1', TERM: 'dumb' })).toBe(true)
    expect(await colours({ NO_COLOR: '1' })).toBe(false)
  })

  test('[O-06] nothing is wider than the terminal says', async ({ sluice }) => {
    for (const columns of [20, 40, 60, 100])
      for (const args of [['config'], ['doctor'], ['keys', 'list']]) {
        const { out } = await sluice(args, { env: { COLUMNS: String(columns) } })
        for (const line of out.split('\n'))
          expect(line.length, `${args.join(' ')} at ${columns}: ${line}`).toBeLessThanOrEqual(columns)
      }
  })

  test('[O-06] whoever stops reading ends a command quietly', async ({ folder, database }) => {
    const program = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
    const child = spawn(
      'bash',
      ['--norc', '-c', `"$0" "$1" completion bash | head -c 10; echo " \${PIPESTATUS[0]}"`, process.execPath, program],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'], DATABASE_URL: database.url },
      },
    )
    const said = { out: '', err: '' }
    child.stdout.on('data', (text: Buffer) => (said.out += String(text)))
    child.stderr.on('data', (text: Buffer) => (said.err += String(text)))
    await once(child, 'close')
    expect([said.out, said.err]).toEqual(['# bash com 0\n', ''])
  })
})

describe('[O-06] sluice config', () => {
  test('[O-06] shows each value with its origin, and no secret', async ({ folder, sluice }) => {
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify({ keepDays: 9 }))
    const env = { DATABASE_URL: 'postgresql://ann:hunter2@db.example/app', SLUICE_MASTER_KEY: 'hunter3', SLUICE_PORT: '1234' }
    const { out, code } = await sluice(['config', '--data', 'here', '--json'], { env })
    expect(code).toBe(exit.ok)
    expect(out).not.toContain('hunter')
    const origin = Object.fromEntries(JSON.parse(out).fields.map((one: any) => [one.name, [one.value, one.place]]))
    expect(origin).toMatchObject({
      data: [join(folder, 'here'), '--data'],
      port: [1234, 'SLUICE_PORT'],
      keepDays: [9, 'sluice.config.json'],
      masterKey: ['[redacted]', 'SLUICE_MASTER_KEY'],
      host: ['127.0.0.1', '127.0.0.1'],
    })
  })

  test('[O-06] tells all that is wrong, each with its place', async ({ folder, sluice }) => {
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify({ prot: 9, keepDays: 0 }))
    const said = await sluice(['config'], { env: { SLUICE_PORT: 'x', SLUICE_LEASE: '1ms' } })
    expect(said).toMatchObject({ code: exit.usage, out: '' })
    expect(said.err).toContain('Did you mean port?')
    for (const place of ['keepDays 0 in sluice.config.json', 'SLUICE_PORT=x', 'SLUICE_LEASE=1ms'])
      expect(said.err).toContain(place)
  })

  test('[O-06] warns about a variable that means nothing', async ({ sluice }) => {
    expect((await sluice(['config'], { env: { SLUICE_PROT: '1' } })).err).toContain('Did you mean SLUICE_PORT?')
  })
})
