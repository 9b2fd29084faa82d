import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineKind, type Engine, type EngineOptions, once } from '@sluice/engine'
import { ping } from '@sluice/server'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { test as base, eventually } from '../../../../test/support/sluice.ts'

const order = defineKind('order', { payload: z.looseObject({ id: z.int() }), retry: once, run: () => {} })
const broken = defineKind('broken', {
  retry: once,
  run: () => {
    throw new Error('out of \u001B[31mstock\u001B[0m')
  },
})

/** `works` starts a worker in this process; the commands are children. */
const test = base.extend<{ works: (options?: Partial<EngineOptions>) => Promise<Engine> }>({
  works: async ({ sluice, engines }, use) => {
    await sluice(['migrate'])
    await use(async (options = {}) => {
      const engine = engines({ kinds: [ping, order, broken], ...options })
      await engine.start()
      return engine
    })
  },
})

describe('[O-06] sluice jobs enqueue', () => {
  test('[O-06] waits for the end and says how it was', async ({ sluice, works }) => {
    await works()
    const good = await sluice(['jobs', 'enqueue', 'sluice.ping', '--payload', '{"takeMs":200}', '--wait'])
    expect(good).toMatchObject({ code: 0, out: expect.stringMatching(/^Job 1 succeeded in \d+m?s\.\n$/), err: '' })
    const bad = await sluice(['jobs', 'enqueue', 'broken', '--wait', '--json'])
    expect([bad.code, JSON.parse(bad.out)]).toMatchObject([1, { id: 2, state: 'failed', created: true }])
  })

  test('[O-06] a typing error in the name of a kind gets the name that may be meant', async ({ sluice, works }) => {
    await works()
    const calls: [words: string[], said: RegExp][] = [
      [['jobs', 'enqueue', 'ordre', '-p', '{"id":1}'], /There is no kind "ordre"\. Did you mean order\?/],
      [['runs', 'start', 'sluice.pign'], /There is no kind "sluice\.pign"\. Did you mean sluice\.ping\?/],
      [['kinds', 'pause', 'brokne'], /There is no kind "brokne"\. Did you mean broken\?/],
      [['jobs', 'enqueue', 'something.else'], /There is no kind "something\.else"\. .*sluice kinds list/],
    ]
    for (const [words, said] of calls)
      expect(await sluice(words), words.join(' ')).toMatchObject({ code: 3, out: '', err: expect.stringMatching(said) })
  })

  test('[O-06] warns when nobody is there to run the job, and is silent when somebody is', async ({
    sluice,
    start,
    works,
    engines,
    client,
  }) => {
    const engine = await works()
    const report = defineKind('report', { run: () => {} })
    await engines({ kinds: [report], pools: {} }).enqueue(report({}))
    // The worker meets the kind once, and leaves it alone from then on.
    await eventually(
      async () =>
        (await client.query(`select from sluice.job where fence > 0 and shelf is null and worker is null`)).rows.length === 1,
    )
    expect(await sluice(['jobs', 'enqueue', 'sluice.ping'])).toMatchObject({ code: 0, err: '' })
    expect(await sluice(['jobs', 'enqueue', 'sluice.ping', '--pool', 'ligth'])).toMatchObject({
      code: 0,
      out: 'Job 3 is enqueued.\n',
      err: expect.stringMatching(/^warning: .*ligth/),
    })
    expect((await sluice(['jobs', 'enqueue', 'report'])).err).toMatch(/^warning: .*report/)
    const { out } = await sluice(['doctor'])
    expect(out).toMatch(/! kinds +jobs are ready of kinds that no live process knows: report \(job 4\)/)
    expect(out).toMatch(/! pools +jobs are ready in pools that no live process serves: ligth \(1\)/)
    const waiting = start(['jobs', 'enqueue', 'sluice.ping', '--pool', 'ligth', '--wait'])
    await eventually(() => /^warning: .*ligth/.test(waiting.err)) // or it would wait without a word
    waiting.signal('SIGINT')
    expect((await waiting.ended).code).toBe(130)
    await engine.stop()
  })

  test.for([
    ['kind', 'sluice.ping'],
    ['pool', 'light'],
  ] as const)(
    '[O-06] who waits for a job of a %s that is paused is told so, once',
    async ([scope, name], { start, sluice, works }) => {
      const engine = await works()
      await engine.pause({ scope, name }, 'a disk is full')
      const waiting = start(['jobs', 'enqueue', 'sluice.ping', '--wait', '--json'])
      await eventually(() => waiting.err.includes(`warning: Job 1 waits. The ${scope} ${name} is paused: a disk is full.`))
      expect(waiting.out).toBe('')
      expect(await sluice([`${scope}s`, 'resume', name])).toMatchObject({ code: 0 })
      const { code, out, err } = await waiting.ended
      expect([code, JSON.parse(out)]).toMatchObject([0, { id: 1, state: 'succeeded' }])
      expect(err.match(/warning/g)).toHaveLength(1)
    },
  )

  test('[O-06] a pause that comes while somebody waits is told as well', async ({ start, works, client }) => {
    const engine = await works({ pools: { light: { core: 1, max: 1 } }, grace: 0 })
    await engine.enqueue(ping({ takeMs: 600_000 })) // has the only place
    const waiting = start(['jobs', 'enqueue', 'sluice.ping', '--wait'])
    // It has had its first look when it joins, to be told of changes.
    await eventually(async () => (await client.query(`select from sluice.worker where name like 'command %'`)).rows.length === 1)
    expect(waiting.err).toBe('')
    await engine.pause({ scope: 'pool', name: 'light' })
    await eventually(() => waiting.err.includes('Job 2 waits. The pool light is paused.'))
    expect(waiting.err.match(/warning/g)).toHaveLength(1)
  })

  test('[O-06] who enqueues a job for later where nobody leads is told so, and a leader that comes ends the wait', async ({
    start,
    sluice,
    works,
    engines,
  }) => {
    await works({ lead: false })
    const waits = /^warning: Job \d waits\. It is (?:not due before|due, and).*[Nn]o process leads.*`sluice scheduler`/
    expect((await sluice(['jobs', 'enqueue', 'sluice.ping', '--delay', '1h'])).err).toMatch(waits)
    const waiting = start(['jobs', 'enqueue', 'sluice.ping', '--delay', '1s', '--wait'])
    await eventually(() => waits.test(waiting.err))
    await engines({ kinds: [], pools: {} }).start()
    expect(await waiting.ended).toMatchObject({ code: 0, out: expect.stringMatching(/^Job 2 succeeded/) })
    expect(waiting.err.match(/warning/g)).toHaveLength(1)
    expect(await sluice(['jobs', 'enqueue', 'sluice.ping', '--delay', '1h'])).toMatchObject({ code: 0, err: '' })
  })

  test('[O-06] an interrupted wait leaves with 130 and the job goes on', async ({ start, works, client }) => {
    await works()
    const waiting = start(['jobs', 'enqueue', 'sluice.ping', '-p', '{"takeMs":600000}', '-w'])
    await eventually(async () => (await client.query(`select from sluice.job where worker is not null`)).rows.length === 1)
    waiting.signal('SIGINT')
    expect(await waiting.ended).toMatchObject({ code: 130, out: '', err: expect.stringContaining('goes on without you') })
    expect((await client.query(`select sluice.state_of(shelf, worker) as state, cancel_at from sluice.job`)).rows).toEqual([
      { state: 'running', cancel_at: null },
    ])
  })

  test('[O-06] takes the payload from the command, a file or standard input', async ({ folder, sluice, works, client }) => {
    await works({ pools: {} })
    writeFileSync(join(folder, 'order.json'), '{"id":2}')
    await sluice(['jobs', 'enqueue', 'order', '-p', '{"id":1}'])
    await sluice(['jobs', 'enqueue', 'order', '-p', '@order.json'])
    await sluice(['jobs', 'enqueue', 'order', '-p', '-'], { input: '{"id":3}' })
    const { rows } = await client.query(`select payload ->> 'id' as id from sluice.job order by id`)
    expect(rows.map(({ id }) => id)).toEqual(['1', '2', '3'])
  })

  test('[O-06] hands on every option of a job', async ({ sluice, works, client }) => {
    await works({ pools: {} })
    const said = await sluice(
      'jobs enqueue order --owner acme --lane mail:acme --cost 3 --key k --dedupe keep --priority -5 --attempts 9 --delay 1h --pool heavy -p {"id":1}'.split(
        ' ',
      ),
    )
    expect(said.code).toBe(0)
    const { rows } = await client.query(
      `select owner, lane, cost, key, priority, max_attempts, pool, sluice.state_of(shelf, worker) as state from sluice.job`,
    )
    expect(rows).toMatchObject([
      { owner: 'acme', lane: 'mail:acme', cost: 3, priority: -5, max_attempts: 9, pool: 'heavy', state: 'scheduled' },
    ])
    expect(await sluice('jobs enqueue order --key k --dedupe keep -p {"id":1}'.split(' '))).toMatchObject({
      code: 0,
      out: 'Job 1 with the same key is live already.\n',
    })
  })

  test('[O-06] [E-12] a kind of a loaded module is asked for lane, cost and key; without the module they have to be given', async ({
    sluice,
    folder,
    works,
    client,
  }) => {
    const engine = new URL('../../../../packages/engine/dist/index.js', import.meta.url).href
    writeFileSync(
      join(folder, 'calls.mjs'),
      `import { defineKind } from '${engine}'
       const functions = { lane: ({ owner }) => 'api:' + owner, cost: ({ page }) => page, key: ({ page }) => 'page ' + page }
       export const kinds = [defineKind('call', { ...functions, dedupe: 'keep', run: () => {} })]`,
    )
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify({ load: ['./calls.mjs'] }))
    const functions = { lane: () => 'api:ada', cost: () => 2, key: () => 'page 2' }
    await works({ kinds: [defineKind('call', { ...functions, dedupe: 'keep', run: () => {} })], pools: {} })
    const enqueue = ['jobs', 'enqueue', 'call', '--owner', 'ada', '-p', '{"page":2}']
    expect(await sluice(enqueue)).toMatchObject({ code: 0 })
    writeFileSync(join(folder, 'sluice.config.json'), '{}')
    const refused = await sluice(enqueue)
    expect(refused.code).not.toBe(0)
    expect(refused.err).toContain('works out the lane of each job in its program: give `lane`')
    const given = [...enqueue, '--lane', 'api:ada', '--cost', '2', '--key', 'page 3']
    expect(await sluice(given)).toMatchObject({ code: 0 })
    const { rows } = await client.query('select lane, cost, key from sluice.job order by id')
    expect(rows).toEqual([
      { lane: 'api:ada', cost: 2, key: 'call/page 2' },
      { lane: 'api:ada', cost: 2, key: 'call/page 3' },
    ])
  })
})

describe('[O-06] sluice jobs', () => {
  test('[O-06] lists by filter, page by page', async ({ sluice, works }) => {
    const engine = await works({ pools: {} })
    await engine.enqueueMany(Array.from({ length: 5 }, (_, id) => order({ id }, { owner: id < 3 ? 'acme' : 'zeta' })))
    const page = async (...args: string[]) => JSON.parse((await sluice(['jobs', 'list', '--json', '-n', '2', ...args])).out)
    const first = await page('--owner', 'acme')
    expect(first.items.map(({ id }: { id: number }) => id)).toEqual([3, 2])
    const second = await page('--owner', 'acme', '--cursor', first.next)
    expect(second.items.map(({ id }: { id: number }) => id)).toEqual([1])
    expect((await page('--state', 'failed,running')).items).toEqual([])
    const text = await sluice(['jobs', 'list', '-n', '2'])
    expect(text.out.split('\n')[0]).toMatch(/^id {2}state {2}kind {3}owner/)
    expect(text.err).toMatch(/^More: --cursor \S+\n$/)
  })

  test('[O-06] shows a job with its attempts, its log, and nothing that could steer the terminal', async ({ sluice, works }) => {
    await works()
    await sluice(['jobs', 'enqueue', 'broken', '--wait'])
    const { out } = await sluice(['jobs', 'show', '1'])
    expect(out).toMatch(/^state +failed$/m)
    expect(out).toContain('out of \\x1b[31mstock')
    expect(out).not.toContain('\u001B')
    await sluice(['jobs', 'enqueue', 'sluice.ping', '-p', '{"message":"hello there"}', '--wait'])
    const log = await eventually(async () => {
      const shown = JSON.parse((await sluice(['jobs', 'show', '2', '--json'])).out)
      return shown.log.length > 0 && shown.log
    })
    expect(log).toMatchObject([{ message: 'hello there', attempt: 1 }])
    expect((await sluice(['jobs', 'show', '2'])).out).toContain('hello there')
  })

  test('[E-26] why answers with the reason', async ({ sluice, works }) => {
    await works({ pools: {} })
    await sluice(['jobs', 'enqueue', 'order', '--delay', '1h', '-p', '{"id":1}'])
    expect(await sluice(['jobs', 'why', '1'])).toMatchObject({ code: 0, out: expect.stringContaining('It is not due before') })
    expect(JSON.parse((await sluice(['jobs', 'why', '1', '--json'])).out)).toMatchObject({ id: 1, reason: 'not before' })
  })

  test('[O-06] searches payloads', async ({ sluice, works }) => {
    const engine = await works({ pools: {} })
    await engine.enqueueMany([order({ id: 1, user: { name: 'ann' } }), order({ id: 2, user: { name: 'bob' } })])
    const found = JSON.parse((await sluice(['jobs', 'search', '{"user":{"name":"bob"}}', '--json'])).out)
    expect(found.items.map(({ id }: { id: number }) => id)).toEqual([2])
  })

  test('[O-06] cancels, retries and discards by id, and tells each answer', async ({ sluice, works, engines }) => {
    const engine = await works()
    await sluice(['jobs', 'enqueue', 'broken', '--wait'])
    await sluice(['jobs', 'enqueue', 'broken', '--wait'])
    await engine.stop()
    const later = await engines({ kinds: [order] }).enqueue(order({ id: 1 }, { delay: '1h' }))
    expect(await sluice(['jobs', 'cancel', String(later.id)])).toMatchObject({
      code: 0,
      out: expect.stringContaining('canceled'),
    })
    const retried = await sluice(['jobs', 'retry', '1', String(later.id), '--json'])
    expect([retried.code, JSON.parse(retried.out).answers]).toEqual([
      4,
      [
        { id: 1, answer: 'retried' },
        { id: later.id, answer: 'not failed' },
      ],
    ])
    expect(await sluice(['jobs', 'discard', '2'])).toMatchObject({ code: 0 })
    expect(await sluice(['jobs', 'discard', '2'])).toMatchObject({ code: 4 })
  })

  test('[O-06] bulk counts first, asks, and then changes what fits', async ({ sluice, works, client }) => {
    const engine = await works()
    await engine.enqueueMany(Array.from({ length: 1_200 }, () => broken({})))
    const failed = async (): Promise<number> =>
      Number((await client.query(`select count(*) from sluice.job where shelf = 'failed'`)).rows[0].count)
    await eventually(async () => (await failed()) === 1_200)
    await engine.stop()
    const groups = JSON.parse((await sluice(['jobs', 'dead', '--json'])).out).items
    expect(groups).toMatchObject([{ kind: 'broken', count: 1_200 }])
    const filter = ['--error', groups[0].error as string]
    expect(await sluice(['jobs', 'bulk', 'discard', '--dry-run', ...filter])).toMatchObject({
      code: 0,
      out: 'Would discard 1200 jobs.\n',
    })
    expect(await sluice(['jobs', 'bulk', 'discard', ...filter])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('--yes'),
    })
    expect(await failed()).toBe(1_200)
    expect(await sluice(['jobs', 'bulk', 'discard', '--yes', '--max', '700', ...filter])).toMatchObject({
      code: 0,
      out: '700 discarded\n',
    })
    expect(await failed()).toBe(500)
    const rest = await sluice(['jobs', 'bulk', 'retry', '--yes', '--json'])
    expect(JSON.parse(rest.out)).toMatchObject({
      action: 'retry',
      changed: 500,
      answers: { retried: 500 },
      more: false,
    })
    expect(await failed()).toBe(0)
  })
})
