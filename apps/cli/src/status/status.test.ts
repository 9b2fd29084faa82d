import { defineSchedule } from '@sluice/engine'
import { ping } from '@sluice/server'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { draw, hasTerminal } from '../../../../test/support/pseudo-terminal.ts'
import { eventually, test } from '../../../../test/support/sluice.ts'
import { findConcerns, readStatus, type Status } from './read-status.ts'

const none = { count: 0, more: false }
const process = {
  id: 1,
  name: 'up',
  state: 'alive' as const,
  leads: true,
  pools: {},
  kinds: [],
  running: {},
  startedAt: new Date(0),
  beatAt: new Date(599_000),
  leaseUntil: new Date(610_000),
}
const calm: Omit<Status, 'concerns' | 'oldestReady'> = {
  at: new Date(600_000),
  jobs: { scheduled: none, ready: none, paused: none, running: none, failed: none },
  ledger: { about: 0, days: 0 },
  runs: { created: none, running: none, finalizing: none, completed: none, failed: none, canceled: none },
  pools: [{ name: 'light', workers: 1, core: 5, max: 10, running: 0, ready: none, next: undefined, paused: null }],
  processes: { alive: 1, stopping: 0, lost: 0 },
  workers: [process],
  leader: { term: 1, worker: 1, name: 'up', until: new Date(610_000) },
  lanesClosed: none,
  deadLetters: [],
  dispatch: { by: 'postgres', instead: undefined, since: undefined, leads: false, processes: [], pools: [] },
  pauses: [],
  troubled: [],
}
const pool = { name: 'light', workers: 1, core: 5, max: 10, running: 0, ready: none, next: undefined, paused: null }
const nobody = { term: 1, worker: undefined, name: undefined, until: undefined }

describe('[O-06] what somebody should look at', () => {
  const cases: [sentence: string, changed: Partial<typeof calm>, told: RegExp[]][] = [
    ['nothing, when all is well', {}, []],
    ['that no process runs', { leader: nobody, processes: { alive: 0, stopping: 0, lost: 0 } }, [/^No process runs/]],
    ['that nobody leads', { leader: nobody }, [/^Nobody leads/]],
    [
      'that a process that is gone leads for long',
      { leader: { ...calm.leader, until: new Date(900_000) }, workers: [] },
      [/^Leadership is held until 1970-01-01T00:15:00\.000Z by a process that is gone/],
    ],
    ['nothing about a leader that has just gone', { workers: [{ ...process, state: 'lost' }] }, []],
    [
      'that a process is lost',
      { processes: { alive: 1, stopping: 0, lost: 2 } },
      [/^2 processes are lost; the leader takes care/],
    ],
    [
      'that a pool is paused, and nothing else about it',
      {
        pools: [{ ...pool, workers: 0, ready: { count: 3, more: false }, paused: { reason: 'night', since: new Date(0) } }],
        pauses: [{ scope: 'pool', name: 'light', reason: 'night', since: new Date(0) }],
      },
      [/^The pool light is paused: night\. `sluice pools resume light` lets it go on\.$/],
    ],
    [
      'each pause, as a shell takes it, without a reason where nobody gave one',
      {
        pauses: [
          { scope: 'kind', name: 'person.greet', reason: 'testing', since: new Date(0) },
          { scope: 'lane', name: 'mail:acme', reason: 'paused', since: null },
          { scope: 'owner', name: "Ann's shop", reason: 'contract ended.', since: null },
          { scope: 'schedule', name: 'nightly', reason: null, since: new Date(0) },
        ],
      },
      [
        /^The kind person\.greet is paused: testing\. `sluice kinds resume person\.greet` lets it go on\.$/,
        /^The lane mail:acme is paused\. `sluice lanes resume mail:acme` lets it go on\.$/,
        /^The owner Ann's shop is paused: contract ended\. `sluice owners resume 'Ann'\\''s shop'` lets it go on\.$/,
        /^The schedule nightly is paused\. `sluice schedules resume nightly` lets it go on\.$/,
      ],
    ],
    [
      'a schedule that an error keeps from firing',
      { troubled: [{ name: 'nightly', reason: 'There is no zone "Mars".' }] },
      [/^The schedule nightly does not fire: There is no zone "Mars"\. `sluice schedules show nightly` tells more\.$/],
    ],
    [
      'how many more there are when many are paused',
      {
        pauses: Array.from({ length: 12 }, (_, index) => ({
          scope: 'owner' as const,
          name: `o${index}`,
          reason: null,
          since: null,
        })),
      },
      [...Array.from({ length: 10 }, () => /^The owner o\d is paused\./), /^2 more pauses hold something back/],
    ],
    [
      'that a pool has no worker',
      { pools: [{ ...pool, workers: 0, ready: { count: 3, more: false } }] },
      [/^Pool light has ready jobs/],
    ],
    [
      'that a job waits for long',
      { pools: [{ ...pool, next: { job: 7, since: new Date(0) } }] },
      [/job 7 has been ready for 10m/],
    ],
    [
      'that Redis is away, of whom and for how long',
      {
        dispatch: {
          ...calm.dispatch,
          processes: [
            { worker: 1, name: 'up', by: 'postgres', instead: 'Redis is not there', since: new Date(480_000) },
            { worker: 2, name: 'other', by: 'redis', instead: undefined, since: new Date(0) },
          ],
        },
      },
      [/^Redis is away for 1 of 2 processes, for 2m: Redis is not there\. PostgreSQL hands out their jobs\./],
    ],
    ['that jobs have failed', { jobs: { ...calm.jobs, failed: { count: 1, more: false } } }, [/^1 job has failed for good/]],
  ]
  test.for(cases)('[O-06] %s', ([, changed, told]) => {
    expect(findConcerns({ ...calm, ...changed })).toEqual(told.map((one) => expect.stringMatching(one)))
  })
})

describe('[O-06] sluice status', () => {
  test('[O-06] tells jobs, processes and leader, and does not count itself', async ({ sluice, engines }) => {
    await sluice(['migrate'])
    const engine = engines({ kinds: [ping], name: 'up here:1' })
    await engine.start()
    await engine.enqueue(ping({}, { delay: '1h' }))
    const { out, code } = await sluice(['status', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      jobs: { scheduled: { count: 1, more: false }, ready: { count: 0 } },
      processes: { alive: 1, stopping: 0, lost: 0 },
      leader: { name: 'up here:1' },
      concerns: [],
    })
    const text = (await sluice(['status'])).out
    expect(text).toMatch(/^All is well\.$/m)
    expect(text).toMatch(/^jobs +0 ready, 0 running, 1 scheduled$/m)
    expect(text).toMatch(/ up here:1 +alive, leads .* (?:\d+(?:ms|s|m)|\dm \d+s) +(?:now|\d+s ago)$/m) // for how long, then the beat
  })

  test('[O-06] counts the processes that it shows, also when one goes while it looks', async ({ sluice, engines, client }) => {
    await sluice(['migrate'])
    const engine = engines({ kinds: [ping] })
    await engine.start()
    const overview = await engine.inspect.overview()
    await client.query('delete from sluice.worker')
    vi.spyOn(engine.inspect, 'overview').mockResolvedValue(overview)
    const seen = await readStatus(engine)
    expect(overview.workers.alive).toBe(1)
    expect(seen.processes.alive).toBe(seen.workers.length)
  })

  test('[O-06] does not say that all is well while something stands still', async ({ sluice, engines, client }) => {
    await sluice(['migrate'])
    const nightly = defineSchedule('nightly', { cron: '5 0 * * *', zone: 'UTC', job: ping({}) })
    const engine = engines({ kinds: [ping], schedules: [nightly] })
    await engine.start()
    await engine.pause({ scope: 'kind', name: 'sluice.ping' }, 'testing')
    await engine.schedules.pause('nightly', 'moving')
    const { out } = await sluice(['status'])
    expect(out).toContain('! The kind sluice.ping is paused: testing. `sluice kinds resume sluice.ping` lets it go on.')
    expect(out).toContain('! The schedule nightly is paused: moving. `sluice schedules resume nightly` lets it go on.')
    expect(out).not.toContain('All is well.')
    expect(JSON.parse((await sluice(['status', '--json'])).out)).toMatchObject({
      pauses: [
        { scope: 'kind', name: 'sluice.ping', reason: 'testing' },
        { scope: 'schedule', name: 'nightly', reason: 'moving' },
      ],
      concerns: [expect.any(String), expect.any(String)],
    })
    await engine.resume({ scope: 'kind', name: 'sluice.ping' })
    await engine.schedules.resume('nightly')
    expect((await sluice(['status'])).out).toMatch(/^All is well\.$/m)
    await client.query(`update sluice.schedule set next_at = null, error = '{"message":"no such zone"}'`)
    expect((await sluice(['status'])).out).toContain('! The schedule nightly does not fire: no such zone.')
  })

  test('[O-06] --watch --json tells each change in a line, and ends when it is told to', async ({ sluice, start, engines }) => {
    await sluice(['migrate'])
    const engine = engines({ kinds: [ping] })
    await engine.start()
    const watching = start(['status', '--watch', '--json'])
    // What comes after the last end of a line may be half of one.
    const lines = (): any[] =>
      watching.out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    await eventually(() => lines().length > 0)
    expect(lines()[0].processes.alive).toBe(1)
    await engine.enqueue(ping({}, { delay: '1h' }))
    await eventually(() => lines().at(-1).jobs.scheduled.count === 1)
    watching.signal('SIGTERM')
    expect((await watching.ended).code).toBe(0)
  })
})

describe.skipIf(!hasTerminal)('[O-06] on a terminal', () => {
  test('[O-06] --watch draws a page, draws it again on a change, and gives the terminal back', async ({
    folder,
    database,
    sluice,
    engines,
  }) => {
    await sluice(['migrate'])
    const engine = engines({ kinds: [ping] })
    await engine.start()
    const page = draw(['status', '--watch'], { cwd: folder, env: { DATABASE_URL: database.url } })
    onTestFinished(() => page.kill())
    await eventually(() => page.screen.includes('All is well.'))
    expect(page.screen).toContain('\u001B[?1049h')
    await engine.enqueue(ping({}, { delay: '1h' }))
    await eventually(() => page.screen.includes('1 \u001B[2mscheduled'))
    page.press('q')
    expect(await page.ended).toBe(0)
    expect(page.screen.trimEnd().endsWith('\u001B[?25h\u001B[?1049l')).toBe(true)
  })

  test('[O-06] a terminal that says it has no size gets a page of the usual one', async ({
    folder,
    database,
    sluice,
    engines,
  }) => {
    await sluice(['migrate'])
    await engines({ kinds: [ping] }).start()
    const page = draw(['status', '--watch'], { cwd: folder, env: { DATABASE_URL: database.url }, columns: 0, rows: 0 })
    onTestFinished(() => page.kill())
    await eventually(() => /All is well\.[^]*jobs[^]*0 running/.test(page.screen))
    page.press('q')
    expect(await page.ended).toBe(0)
  })

  test('[O-06] whoever interrupts a wait finds the line of it gone before the words about it', async ({
    folder,
    database,
    sluice,
    engines,
  }) => {
    await sluice(['migrate'])
    await engines({ kinds: [ping] }).migrate()
    const page = draw(['jobs', 'enqueue', 'sluice.ping', '--wait'], { cwd: folder, env: { DATABASE_URL: database.url } })
    onTestFinished(() => page.kill())
    await eventually(() => page.screen.includes('job 1 ready'))
    page.press('\u0003')
    expect(await page.ended).toBe(130)
    expect(page.screen).toContain('\r\u001B[2K\u001B[31merror:\u001B[39m Job 1 goes on without you.')
    expect(page.screen.trimEnd().endsWith('tells how it ended.')).toBe(true)
  })

  test('[O-06] a bar shows how far a bulk action is, and whoever says no changes nothing', async ({
    folder,
    database,
    sluice,
    engines,
    client,
  }) => {
    await sluice(['migrate'])
    const engine = engines({ kinds: [ping], pools: {} })
    await engine.enqueueMany(Array.from({ length: 1_100 }, () => ping({}, { delay: '1h' })))
    const cancel = (): ReturnType<typeof draw> => {
      const page = draw(['jobs', 'bulk', 'cancel', '--kind', 'sluice.ping'], { cwd: folder, env: { DATABASE_URL: database.url } })
      onTestFinished(() => page.kill())
      return page
    }
    const live = async (): Promise<number> => Number((await client.query('select count(*) from sluice.job')).rows[0].count)
    const no = cancel()
    await eventually(() => no.screen.includes('cancel 1100 jobs? [y/N]'))
    no.press('n\r')
    expect(await no.ended).toBe(1)
    expect(await live()).toBe(1_100)
    const yes = cancel()
    await eventually(() => yes.screen.includes('[y/N]'))
    yes.press('y\r')
    expect(await yes.ended).toBe(0)
    expect(yes.screen).toContain('1100/1100')
    expect(yes.screen).toContain('1100 canceled')
    expect(await live()).toBe(0)
  })
})
