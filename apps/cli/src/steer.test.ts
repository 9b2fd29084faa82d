import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { KeyRing } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { test as base, eventually, type Said } from '../../../test/support/sluice.ts'

const engine = new URL('../../../packages/engine/dist/index.js', import.meta.url).href
const module = `
  import { defineEvent, defineKind, defineRun, defineSchedule, done, once } from '${engine}'
  const page = defineKind('page', { retry: once, async run({ payload, signal }) {
    if (payload.long) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    if (payload.n === 3) throw new Error('page 3 is torn')
  } })
  const paid = defineEvent('order.paid')
  const hear = defineKind('hear', { on: [paid], run() {} })
  export const kinds = [page, hear]
  export const runs = [
    defineRun('import', { plan: () => done({ next: [1, 2, 3, 4].map((n) => page({ n })) }), finalize() {} }),
    defineRun('endless', { plan: () => done({ next: [page({ long: true })] }) }),
  ]
  export const schedules = [defineSchedule('nightly', { cron: '5 0 * * *', zone: 'Asia/Seoul', job: page({ n: 1 }), overlap: 'forbid' })]
  export const events = [paid]
  export const lanes = { 'mail:*': { cap: 1 } }`

/** A system with the module above, in a process of its own; `json` is what a command answers. */
const test = base.extend<{ up: void; json: (...args: string[]) => Promise<any> }>({
  up: [
    async ({ folder, start }, use) => {
      writeFileSync(join(folder, 'jobs.mjs'), module)
      writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify({ load: ['./jobs.mjs'], port: 0 }))
      await start(['up', '--json']).ready()
      await use()
    },
    { auto: true },
  ],
  json: async ({ sluice }, use) => {
    await use(async (...args) => JSON.parse((await sluice([...args, '--json'])).out))
  },
})
const told = (said: Said): [number | null, string] => [said.code, said.out.trim()]

describe('[O-06] sluice runs', () => {
  test('[O-06] starts a run, waits for it, and leaves with 1 when a job of it failed', async ({ sluice, json }) => {
    const said = await sluice(['runs', 'start', 'import', '--wait'])
    expect(said).toMatchObject({ code: 1, out: expect.stringMatching(/^Run 1 completed in .*: \d+ succeeded, 1 failed\.\n$/) })
    expect(await json('runs', 'show', '1')).toMatchObject({ state: 'completed', failed: 1, progress: { done: 1 } })
    expect((await sluice(['runs', 'show', '1'])).out).toMatch(/^finalizer +\d+ {2}succeeded$/m)
    const { items } = await json('runs', 'tree', '1')
    const [root, child] = [1, 2].map((at) => items[at - 1].id)
    const below = await sluice(['jobs', 'list', '--tree', String(child)])
    expect(below).toMatchObject({ code: 0, err: `Job ${child} is in the tree of job ${root}: --tree ${root} shows all of it.\n` })
    expect(items.filter(({ kind }: { kind: string }) => kind === 'page')).toHaveLength(4)
    const { out } = await sluice(['runs', 'tree', '1'])
    expect(out).toMatch(/^\d+ import {2}succeeded.*\n(?:├─ .*\n){3}└─ /)
    expect(out).toContain('page 3 is torn')
    expect(told(await sluice(['runs', 'retry', '1']))).toEqual([0, '1 failed job of run 1 runs again.'])
  })

  test('[E-15] a second start of what is under way is a conflict that names it; cancel ends it', async ({ sluice, json }) => {
    const { id } = await json('runs', 'start', 'endless', '--owner', 'acme')
    expect(await sluice(['runs', 'start', 'endless', '--owner', 'acme'])).toMatchObject({
      code: 4,
      err: expect.stringContaining(`run ${id}`),
    })
    expect((await json('runs', 'list', '--owner', 'acme')).items).toMatchObject([{ id, trigger: 'command line' }])
    expect(told(await sluice(['runs', 'cancel', String(id)]))).toEqual([0, `Run ${id} is canceled.`])
    expect((await sluice(['runs', 'cancel', String(id)])).code).toBe(4)
  })
})

describe('[O-06] kinds and pools', () => {
  test('[O-06] a kind and a pool keep their jobs back until they are resumed', async ({ sluice, json }) => {
    for (const [noun, name] of [
      ['kinds', 'page'],
      ['pools', 'light'],
    ] as const) {
      expect(told(await sluice([noun, 'pause', name, '--reason', 'torn']))).toEqual([
        0,
        `${name} is paused. Jobs that run go on.`,
      ])
      const { items } = await json(noun, 'list')
      expect(items.find((one: { name: string }) => one.name === name)).toMatchObject({ workers: 1, paused: { reason: 'torn' } })
      expect((await sluice([noun, 'list'])).out).toMatch(new RegExp(`^${name} +paused .*torn$`, 'm'))
      const { id } = await json('jobs', 'enqueue', 'page', '-p', '{"n":1}')
      expect((await sluice(['jobs', 'why', String(id)])).out).toContain('torn')
      expect(told(await sluice([noun, 'resume', name]))).toEqual([0, `${name} goes on.`])
      await eventually(async () => (await json('jobs', 'show', String(id))).state === 'succeeded')
      expect(told(await sluice([noun, 'resume', name]))).toEqual([0, `${name} was not paused.`])
    }
  })
})

test('[O-06] a pool that nobody names is refused with the command that lists them', async ({ sluice }) => {
  for (const verb of ['pause', 'resume'])
    expect(await sluice(['pools', verb, 'lite'])).toMatchObject({
      code: 3,
      err: expect.stringMatching(/There is no pool "lite"\. `sluice pools list` shows/),
    })
})

describe('[O-06] lanes, owners, schedules', () => {
  test('[O-06] a lane is held, paused and resumed', async ({ sluice, json }) => {
    await sluice(['jobs', 'enqueue', 'page', '--lane', 'mail:acme', '--wait', '-p', '{"n":1}'])
    expect(await json('lanes', 'show', 'mail:acme')).toMatchObject({ cap: 1, closed: false })
    expect((await sluice(['lanes', 'pause', 'mail:acme', '--reason', 'token gone'])).code).toBe(0)
    expect((await json('lanes', 'list', '--closed')).items).toMatchObject([{ name: 'mail:acme', paused: 'token gone' }])
    const { id } = await json('jobs', 'enqueue', 'page', '--lane', 'mail:acme', '-p', '{"n":2}')
    expect((await sluice(['jobs', 'why', String(id)])).out).toContain('token gone')
    expect(told(await sluice(['lanes', 'resume', 'mail:acme']))).toEqual([0, 'mail:acme goes on.'])
    await eventually(async () => (await json('jobs', 'show', String(id))).state === 'succeeded')
    expect((await sluice(['lanes', 'hold', 'mail:acme', '15m'])).out).toMatch(/^mail:acme starts nothing until 20/)
    expect((await sluice(['lanes', 'list'])).out).toMatch(/mail:acme +held +in 14m/)
  })

  test('[E-21] pausing an owner keeps their jobs back until they are resumed', async ({ sluice, json }) => {
    await sluice(['owners', 'pause', 'acme', '--reason', 'contract ended'])
    const { id } = await json('jobs', 'enqueue', 'page', '--owner', 'acme', '-p', '{"n":1}')
    expect((await sluice(['jobs', 'why', String(id)])).out).toContain('contract ended')
    expect((await json('owners', 'list')).items).toMatchObject([{ name: 'acme', paused: 'contract ended' }])
    expect(told(await sluice(['owners', 'resume', 'acme']))).toEqual([0, 'acme goes on.'])
    await eventually(async () => (await json('jobs', 'show', String(id))).state === 'succeeded')
    expect(told(await sluice(['owners', 'resume', 'acme']))).toEqual([0, 'acme was not paused.'])
  })

  test('[E-18] a schedule shows its next fires in its zone, is paused, resumed and run by hand', async ({ sluice, json }) => {
    const { out } = await sluice(['schedules', 'show', 'nightly', '--fires', '2'])
    expect(out).toMatch(/next +\d{4}-\d\d-\d\d 00:05:00 {2}in/)
    await sluice(['schedules', 'pause', 'nightly', '--reason', 'moving'])
    expect((await json('schedules', 'list')).items).toContainEqual(
      expect.objectContaining({ name: 'nightly', pausedReason: 'moving' }),
    )
    expect((await json('schedules', 'run', 'nightly')).created).toBe(true)
    expect(told(await sluice(['schedules', 'resume', 'nightly']))).toEqual([0, 'nightly goes on.'])
  })
})

describe('[O-06] events and keys', () => {
  test('[E-17] an event that is published is listed, followed and heard', async ({ sluice, start, json }) => {
    const tail = start(['events', 'tail', '--type', 'order.paid', '--json'])
    await eventually(() => tail.err.includes('Waiting for events'))
    const { id } = await json('events', 'publish', 'order.paid', '-p', '{"id":7}', '--owner', 'acme')
    const line = await eventually(() => tail.out.includes('\n') && JSON.parse(tail.out))
    expect(line).toMatchObject({ id, type: 'order.paid', owner: 'acme', payload: { id: 7 } })
    tail.signal('SIGINT')
    expect((await tail.ended).code).toBe(0)
    expect((await json('events', 'list', '--type', 'order.paid')).items).toMatchObject([{ id }])
    await eventually(async () => (await json('jobs', 'list', '--kind', 'hear', '--state', 'succeeded')).items.length === 1)
    expect((await sluice(['events', 'list'])).out).toContain('{"id":7}')
  })

  test('[O-09] a key is shown once, alone on standard output, and works no more when it is revoked', async ({ sluice, json }) => {
    const made = await sluice(['keys', 'create', 'deploy', '--role', 'operate', '--expires', '90d'])
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sluice_\S+\n$/),
      err: expect.stringContaining('shown this once'),
    })
    const { items } = await json('keys', 'list')
    expect(items).toMatchObject([{ name: 'deploy', role: 'operate', state: 'active' }])
    expect(JSON.stringify(items)).not.toContain(made.out.trim())
    expect(await sluice(['keys', 'revoke', 'deploy'])).toMatchObject({
      code: 3,
      err: expect.stringContaining(`It takes the id, not the name: \`sluice keys revoke ${items[0].id}\``),
    })
    expect((await sluice(['keys', 'revoke', items[0].id])).code).toBe(0)
    expect((await sluice(['keys', 'revoke', items[0].id])).code).toBe(3)
    expect((await json('keys', 'list')).items[0].state).toBe('revoked')
  })

  test('[O-10] a new master key is taken into use in two steps, and secrets stay readable', async ({
    folder,
    sluice,
    json,
    engines,
  }) => {
    const file = join(folder, 'own.key')
    const env = { SLUICE_MASTER_KEY_FILE: file }
    const put = async (): Promise<void> => {
      const ring = await KeyRing.fromEnvOrFile({ file, missing: 'create' })
      await engines({ secrets: ring }).secrets.put('token', 'hunter2')
    }
    await put()
    expect(await sluice(['keys', 'rotate', '--new'], { env })).toMatchObject({
      code: 0,
      out: expect.stringContaining('Start all processes again'),
    })
    expect(await sluice(['keys', 'rotate'], { env })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^1 sealed anew under \S+, 0 left\.\n$/),
    })
    const ring = await KeyRing.fromEnvOrFile({ file })
    expect((await engines({ secrets: ring }).secrets.open('token')).reveal()).toBe('hunter2')
    expect(await sluice(['keys', 'rotate', '--new'], { env: { SLUICE_MASTER_KEY: 'x' } })).toMatchObject({ code: 2 })
    expect(await json('keys', 'list')).toMatchObject({ items: [] })
  })
})
