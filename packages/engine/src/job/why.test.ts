/** "Why is this job not running?" asked of a real engine, in each situation that a person meets. */
import pg from 'pg'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { defineKind } from './kind.ts'
import { fail } from './outcome.ts'
import { delays } from './retry.ts'

const mail = defineKind('mail', { run: () => {} })
const one = { light: { core: 1, max: 1 } }

/** Jobs that stay in their handler until the test ends them. */
function gate() {
  const ends: (() => void)[] = []
  const slow = defineKind('slow', {
    run: ({ signal }) =>
      new Promise<void>((resolve, reject) => {
        ends.push(resolve)
        signal.addEventListener('abort', () => setImmediate(() => reject(new Error('stopped'))))
      }),
  })
  return { slow, ends }
}

test('[E-26] unknown: there is no such job', async ({ engines }) => {
  expect(await engines().why(4711)).toMatchObject({ reason: 'unknown', text: expect.stringContaining('4711') })
})

test('[E-26] no worker for this pool: nobody serves it', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const { id } = await engine.enqueue(mail({}, { pool: 'special' }))
  expect(await engine.why(id)).toMatchObject({ reason: 'no worker for this pool' })
  await engines({ kinds: [mail], pools: one }).start()
  expect(await engine.why(id)).toMatchObject({ reason: 'no worker for this pool' })
})

test('[E-26] no worker knows this kind: the pool is served, but by processes that do not define it', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const { id } = await engine.enqueue(mail({}))
  await engines({ kinds: [gate().slow] }).start()
  // The stranger takes the job once, learns that it does not know the kind, and hands it back.
  await eventually(async () => (await engine.why(id)).reason === 'no worker knows this kind')
})

test('[E-26] not before: the job is not due, and the answer says until when', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const runAt = new Date(Date.now() + 3_600_000)
  const { id } = await engine.enqueue(mail({}, { runAt }))
  expect(await engine.why(id)).toMatchObject({ reason: 'not before', until: runAt })
})

test('[E-26] waiting for leader: nobody leads where all were told not to, and the one that it says to start takes over', async ({
  engines,
}) => {
  const engine = engines({ kinds: [mail], lead: false })
  await engine.start()
  const later = await engine.enqueue(mail({}, { delay: '1h' }))
  expect(await engine.why(later.id)).toMatchObject({ reason: 'not before', text: expect.stringContaining('No process leads') })
  const { id } = await engine.enqueue(mail({}, { delay: 1 }))
  await eventually(async () => (await engine.why(id)).reason === 'waiting for leader')
  expect((await engine.why(id)).text).toContain('no process leads. Start `sluice scheduler`')
  await engines({ kinds: [mail] }).start()
  await eventually(async () => (await engine.why(id)).reason === 'finished')
  expect((await engine.why(later.id)).text).not.toContain('leads')
})

test('[E-26] paused: by kind and by pool, with the reason that was given', async ({ engines }) => {
  const engine = engines({ kinds: [mail] })
  const ready = await engine.enqueue(mail({}))
  await engine.pause({ scope: 'kind', name: 'mail' }, 'provider down')
  const fresh = await engine.enqueue(mail({}))
  for (const { id } of [ready, fresh])
    expect(await engine.why(id)).toMatchObject({ reason: 'paused', text: expect.stringContaining('provider down') })
  await engine.resume({ scope: 'kind', name: 'mail' })
  await engine.pause({ scope: 'pool', name: 'light' }, 'disk full')
  expect(await engine.why(ready.id)).toMatchObject({ reason: 'paused', text: expect.stringContaining('disk full') })
})

test('[E-26] running, pool full, stopping, finished: a job that holds the only slot, and the one behind it', async ({
  engines,
}) => {
  const { slow, ends } = gate()
  const engine = engines({ kinds: [slow], pools: one, lease: '6s' })
  await engine.start()
  const first = await engine.enqueue(slow({}))
  const second = await engine.enqueue(slow({}))
  await eventually(() => ends.length === 1)
  expect(await engine.why(first.id)).toMatchObject({
    reason: 'running',
    text: expect.stringContaining(`worker ${engine.status().worker}`),
  })
  // How many run in each process is known from its last heartbeat.
  await eventually(async () => (await engine.why(second.id)).reason === 'pool full')
  ends[0]?.()
  await eventually(async () => (await engine.why(first.id)).reason === 'finished')
  await eventually(async () => (await engine.why(second.id)).reason === 'running')
  await engine.cancel(second.id)
  await eventually(async () => ['stopping', 'finished'].includes((await engine.why(second.id)).reason))
  await eventually(async () => (await engine.why(second.id)).reason === 'finished')
})

test('[E-26] failed: the answer shows the error and what can be done', async ({ engines }) => {
  const bad = defineKind('bad', { run: () => fail(new Error('no such account')) })
  const engine = engines({ kinds: [bad] })
  await engine.start()
  const { id } = await engine.enqueue(bad({}))
  const { text } = await eventually(async () => {
    const explanation = await engine.why(id)
    return explanation.reason === 'failed' && explanation
  })
  expect(text).toMatch(/no such account.*Retry or discard/)
  await engine.discard(id)
  expect(await engine.why(id)).toMatchObject({ reason: 'finished' })
})

test('[E-26] next in line: the job is ready, a worker is free, and so many go first', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const jobs = await engine.enqueueMany([mail({}), mail({}), mail({})])
  // A live process with free slots that has not looked yet.
  await client.query(
    `insert into sluice.worker (name, pools, kinds, lease_until) values ('w', '{"light": {"max": 5}}', '{mail}', 'infinity')`,
  )
  expect(await engine.why(jobs[2]?.id ?? 0)).toMatchObject({
    reason: 'next in line',
    text: expect.stringContaining('2 jobs go first'),
  })
})

test('[E-26] runs alone next: processes died while they ran it', async ({ engines, client }) => {
  const engine = engines({ kinds: [mail] })
  const { id } = await engine.enqueue(mail({}))
  await client.query(
    `insert into sluice.worker (name, pools, kinds, lease_until) values ('w', '{"light": {"max": 5}}', '{mail}', 'infinity')`,
  )
  await client.query('update sluice.job set crashes = 2')
  expect(await engine.why(id)).toMatchObject({ reason: 'runs alone next' })
})

test('[E-26] [E-08] another runs alone: the only process runs nothing beside a suspect, and counts it', async ({
  engines,
  client,
}) => {
  const { slow, ends } = gate()
  const engine = engines({ kinds: [mail, slow] })
  const suspect = await engine.enqueue(slow({}))
  await client.query('update sluice.job set crashes = 2')
  await engine.start()
  await eventually(() => ends.length === 1)
  expect(engine.status().running).toBe(1)
  const { id } = await engine.enqueue(mail({}))
  expect(await engine.why(id)).toMatchObject({
    reason: 'another runs alone',
    text: expect.stringContaining(`beside job ${suspect.id},`),
  })
  expect(await engine.why(suspect.id)).toMatchObject({ reason: 'running' })
  ends[0]?.()
  await eventually(async () => (await engine.why(id)).reason === 'finished')
  expect(engine.status().running).toBe(0)
})

test('[E-26] [E-06] not before: what is tried again says what its last attempt ended with', async ({ engines }) => {
  const engine = engines({
    kinds: [
      defineKind('smtp', {
        retry: delays(['1h']),
        run: () => {
          throw new Error('the mail server is down')
        },
      }),
    ],
  })
  const { id } = await engine.enqueue({ kind: 'smtp', payload: {} })
  await engine.start()
  const { text } = await eventually(async () => {
    const explanation = await engine.why(id)
    return explanation.reason === 'not before' && explanation
  })
  expect(text).toMatch(/ Attempt 1 of 2 ended with: the mail server is down\.$/)
})

test('[E-26] a closed lane says why, and until when: paused, held, cap, unknown and used-up budget, owner', async ({
  engines,
}) => {
  const { slow, ends } = gate()
  const engine = engines({
    kinds: [slow],
    pools: { light: { core: 5, max: 5 } },
    lanes: { capped: { cap: 1 }, metered: { budget: { floor: 0 } } },
  })
  const until = new Date(Date.now() + 3_600_000)
  await engine.lanes.pause('off', 'token revoked')
  await engine.lanes.hold('later', until)
  await engine.lanes.sync('spent', { remaining: 0, resetAt: until })
  await engine.owners.pause('ann', 'left')
  await engine.start()
  const put = async (lane: string, owner?: string) => (await engine.enqueue(slow({}, { lane, ...(owner ? { owner } : {}) }))).id
  expect(await engine.why(await put('off'))).toMatchObject({ reason: 'paused', text: expect.stringContaining('token revoked') })
  expect(await engine.why(await put('later'))).toMatchObject({ reason: 'held', until })
  expect(await engine.why(await put('spent'))).toMatchObject({ reason: 'budget used up', until })
  expect(await engine.why(await put('core:ann', 'ann'))).toMatchObject({
    reason: 'paused',
    text: expect.stringContaining('left'),
  })
  await put('capped')
  await put('metered')
  await eventually(() => ends.length === 2)
  expect(await engine.why(await put('capped'))).toMatchObject({ reason: 'cap reached' })
  expect(await engine.why(await put('metered'))).toMatchObject({ reason: 'one job finds out' })
})

test('[E-26] breaker open: the answer says when one job finds out', async ({ engines }) => {
  const bad = defineKind('bad', { breaker: { after: 1, cooldown: '1h' }, run: () => fail(new Error('down')) })
  const engine = engines({ kinds: [bad], pools: one })
  await engine.start()
  await engine.enqueue(bad({}))
  await eventually(async () => (await engine.lanes.find('kind:bad'))?.brokenUntil ?? undefined)
  const { id } = await engine.enqueue(bad({}))
  expect(await engine.why(id)).toMatchObject({ reason: 'breaker open', until: expect.any(Date) })
})

test('[E-26] in an open transaction: the answer names the session that holds the lane, the owner or the job', async ({
  engines,
  database,
}) => {
  const engine = engines({ kinds: [mail], pools: one })
  await engine.owners.set('ann', { cap: 3 })
  const put = async (options: { lane?: string; owner?: string } = {}) => (await engine.enqueue(mail({}, options))).id
  const jobs = { lane: await put({ lane: 'api' }), owner: await put({ lane: 'of:ann', owner: 'ann' }), job: await put() }
  await engine.lanes.set('api', { cap: 5 })
  const holder = new pg.Client({ connectionString: database.url, application_name: 'a hand' })
  await holder.connect()
  try {
    const { rows } = await holder.query('select pg_backend_pid() as pid')
    await holder.query(
      `begin; select from sluice.lane where key = 'api' for update; select from sluice.owner where name = 'ann' for update`,
    )
    await holder.query('select from sluice.job where id = $1 for update', [jobs.job])
    await engine.start()
    for (const [what, id] of Object.entries(jobs)) {
      const { text } = await eventually(async () => {
        const explanation = await engine.why(id)
        return explanation.reason === 'in an open transaction' && explanation
      })
      expect(text).toMatch(
        new RegExp(`^The ${what}.*session ${rows[0].pid} \\(a hand\\).*pg_terminate_backend\\(${rows[0].pid}\\)`),
      )
    }
    await holder.query('rollback')
    for (const id of Object.values(jobs)) await eventually(async () => (await engine.why(id)).reason === 'finished')
  } finally {
    await holder.end()
  }
})
