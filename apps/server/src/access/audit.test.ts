/** The audit log. */
import { Sealed } from '@sluice/engine'
import fc from 'fast-check'
import { expect } from 'vitest'
import { test } from '../../../../test/support/access-scene.ts'
import { Scrubber } from '../telemetry/scrubber.ts'
import { Audit } from './audit.ts'
import { writeDetail } from './audit-detail.ts'
import type { Caller } from './caller.ts'
import { makeKeyParts, writeKey } from './key-text.ts'

const ann: Caller = { kind: 'session', role: 'admin', id: 'aaaaaaaaaa', name: 'ann' }
const entry = { caller: ann, address: '10.0.0.1', action: 'jobs.cancel', outcome: 'done' } as const

test('[O-09] an entry says who did what to what, from where, and how it went', async ({ engine }) => {
  const audit = new Audit(engine, new Scrubber())
  await audit.record({ ...entry, target: '42', detail: { reason: 'late', tree: true } })
  await audit.record({ address: undefined, action: 'key.check', outcome: 'refused' })
  expect(await audit.list()).toEqual({
    items: [
      {
        id: expect.any(Number),
        at: expect.any(Date),
        callerKind: 'none',
        callerId: null,
        callerName: null,
        address: null,
        action: 'key.check',
        target: null,
        detail: {},
        outcome: 'refused',
      },
      {
        id: expect.any(Number),
        at: expect.any(Date),
        callerKind: 'session',
        callerId: 'aaaaaaaaaa',
        callerName: 'ann',
        address: '10.0.0.1',
        action: 'jobs.cancel',
        target: '42',
        detail: { reason: 'late', tree: true },
        outcome: 'done',
      },
    ],
    next: undefined,
  })
})

test('[O-09] an entry in a transaction is there if what it tells was done', async ({ engine }) => {
  const audit = new Audit(engine, new Scrubber())
  const undone = engine.transaction(async (tx) => {
    await audit.record(entry, tx)
    throw new Error('changed my mind')
  })
  await expect(undone).rejects.toThrow('changed my mind')
  await engine.transaction((tx) => audit.record({ ...entry, target: 'kept' }, tx))
  expect((await audit.list()).items).toMatchObject([{ target: 'kept' }])
})

test('[O-09] entries come in pages, newest first, also those of one caller or action', async ({ engine, client }) => {
  const audit = new Audit(engine, new Scrubber())
  await client.query(
    `insert into sluice.audit (caller_kind, caller_id, action, target, outcome)
     select 'key', 'key' || n % 2, 'do.' || n % 3, n::text, 'done' from generate_series(1, 12) n`,
  )
  const walk = async (filter: { caller?: string; action?: string }) => {
    const pages: string[] = []
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await audit.list({ ...filter, limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      pages.push(page.items.map(({ target }) => target).join())
      cursor = page.next
      more = cursor !== undefined
    }
    return pages
  }
  expect(await walk({})).toEqual(['12,11', '10,9', '8,7', '6,5', '4,3', '2,1'])
  expect(await walk({ caller: 'key1' })).toEqual(['11,9', '7,5', '3,1'])
  expect(await walk({ action: 'do.0' })).toEqual(['12,9', '6,3'])
  expect(await walk({ caller: 'key0', action: 'do.0' })).toEqual(['12,6'])
  expect(await walk({ caller: "x' or true --\0" })).toEqual([''])
  await expect(audit.list({ cursor: 'x' })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('[O-09] what is older than asked for is forgotten, and nothing else', async ({ engine, client }) => {
  const audit = new Audit(engine, new Scrubber())
  await client.query(
    `insert into sluice.audit (at, caller_kind, action, outcome)
     select sluice.now() - interval '31 days', 'local', 'old', 'done' from generate_series(1, 2300)`,
  )
  await client.query(
    `insert into sluice.audit (at, caller_kind, action, outcome) values (sluice.now() - interval '29 days', 'local', 'young', 'done')`,
  )
  expect(await audit.prune({ keepDays: 30 })).toBe(2_300)
  expect((await audit.list()).items).toMatchObject([{ action: 'young' }])
  for (const keepDays of [0, -1, 1.5, Number.NaN]) await expect(audit.prune({ keepDays })).rejects.toThrow(/^Option keepDays: /)
})

test('[O-09] no entry holds a secret, wherever it was put', async ({ engine, client }) => {
  const audit = new Audit(engine, new Scrubber())
  const key = writeKey(makeKeyParts())
  const secret = key.slice(-43)
  await audit.record({
    ...entry,
    caller: { ...ann, name: `ann ${key}` },
    address: key,
    target: `https://ann:${secret}@example.com/x`,
    detail: {
      note: `used ${key} today`,
      header: `Authorization: Bearer ${secret}`,
      password: secret,
      inner: [{ apiKey: secret, 'x-api-key': secret, refresh_token: secret, Cookie: `sluice=${secret}` }],
      sealed: new Sealed(secret),
      opened: { like: new Sealed(secret) },
      url: `postgresql://me:${secret}@db/app`,
      [key]: 1,
    },
  })
  const { rows } = await client.query('select a::text as row, detail from sluice.audit a')
  expect(rows[0].row).not.toContain(secret)
  expect(rows[0].detail).toMatchObject({
    password: '[redacted]',
    opened: { like: '[redacted]' },
    url: 'postgresql://me:[redacted]@db/app',
  })
})

test('[O-10] what the log hides is hidden in the audit log', async ({ access, engine, client }) => {
  const scrubber = new Scrubber()
  scrubber.hide('correct horse')
  const { audit } = access({ scrubber })
  await audit.record({
    ...entry,
    target: 'correct horse',
    detail: { note: 'a correct horse', list: [encodeURIComponent('correct horse')] },
  })
  const { rows } = await client.query('select a::text as row from sluice.audit a')
  expect(rows[0].row).not.toMatch(/correct|horse/)
  expect((await new Audit(engine, scrubber).list()).items).toMatchObject([
    { target: '[redacted]', detail: { note: 'a [redacted]' } },
  ])
})

test('[O-09] no value is too strange to be recorded', async ({ engine, client }) => {
  const audit = new Audit(engine, new Scrubber())
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const strange: Record<string, unknown>[] = [
    { a: 'x\0y\uD800', 'k\0\uDC00': 1 },
    { big: 10n, none: undefined, nan: Number.NaN, when: new Date(0), list: Array(1_000).fill('x'.repeat(1_000)) },
    circle,
    {
      get broken(): never {
        throw new Error('not even that')
      },
    },
    { deep: JSON.parse('['.repeat(50) + ']'.repeat(50)) },
    { __proto__: null, a: 1 },
    { slashes: '\\u0000 \\\\u0000 \\ud800' },
  ]
  for (const detail of strange) await audit.record({ ...entry, target: 'x\0\uD800'.repeat(1_000), detail })
  expect((await client.query('select from sluice.audit')).rowCount).toBe(strange.length)
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.anything({ withDate: true, withBigInt: true })),
      async (detail) => {
        const text = writeDetail(detail, new Scrubber())
        expect(text.length).toBeLessThanOrEqual(30_000)
        await client.query('select $1::jsonb', [text])
      },
    ),
    { numRuns: 100 },
  )
})
