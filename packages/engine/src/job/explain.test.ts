/** "Why is this job not running?" as a pure decision: each reason, and which one is named when several hold. */
import { expect, test } from 'vitest'
import { aheadMax, explain } from './explain.ts'
import type { Explanation, LaneAround, OwnerAround, Surroundings } from './explanation.ts'
import type { Job } from './job-store.ts'

const now = new Date('2030-01-01T12:00:00Z')
const later = new Date('2030-01-01T14:02:00Z')
const [past, soon] = ['2030-01-01T11:00:00Z', later.toISOString()]
const ready: Job = {
  id: 1,
  kind: 'mail',
  pool: 'light',
  lane: '',
  owner: null,
  state: 'ready',
  priority: 0,
  payload: {},
  key: null,
  parent: null,
  root: null,
  run: null,
  event: null,
  attempt: 0,
  maxAttempts: 5,
  crashes: 0,
  worker: null,
  runAt: null,
  createdAt: now,
  startedAt: null,
  finishedAt: null,
  cancelRequestedAt: null,
  error: null,
  trace: null,
}
const holder = { pid: 42, application: 'psql', since: past }
const lane: LaneAround = {
  heldBy: null,
  paused: null,
  holdUntil: null,
  brokenUntil: null,
  inFlight: 1,
  cap: null,
  metered: false,
  permits: null,
  resetAt: null,
  cost: 1,
}
const owner: OwnerAround = { heldBy: null, name: 'ann', paused: null, holdUntil: null, cap: null, inFlight: 1 }
const free = { name: 'host:1', knowsKind: true, max: 10, running: 3, alone: null }
const quiet: Surroundings = {
  now,
  leaderUntil: later,
  followsKey: false,
  workerLost: false,
  kindPaused: null,
  poolPaused: null,
  heldBy: null,
  lane: null,
  owner: null,
  workers: [free],
  ahead: 0,
}

test.each<[Explanation['reason'], Partial<Job>, Partial<Surroundings>, RegExp]>([
  ['finished', { state: 'succeeded', finishedAt: now }, {}, /succeeded at 2030-01-01T12:00/],
  ['finished', { state: 'canceled', finishedAt: now }, {}, /canceled at 2030-01-01T12:00/],
  ['finished', { state: 'failed', finishedAt: now }, {}, /discarded at 2030-01-01T12:00/],
  [
    'failed',
    { state: 'failed', attempt: 5, error: { message: 'no route' } },
    {},
    /after 5 attempts: no route\. Retry or discard/,
  ],
  ['failed', { state: 'failed', attempt: 1 }, {}, /after one attempt: no reason given/],
  [
    'failed',
    { state: 'failed', attempt: 1, error: { message: 'Give up.' } },
    {},
    /after one attempt: Give up\. Retry or discard it\.$/,
  ],
  ['running', { state: 'running', worker: 7, startedAt: now }, {}, /worker 7 since 2030-01-01T12:00/],
  [
    'waiting for leader',
    { state: 'running', worker: 7 },
    { workerLost: true },
    /worker 7, which is lost; the leader puts it back/,
  ],
  [
    'waiting for leader',
    { state: 'running', worker: 7 },
    { workerLost: true, leaderUntil: new Date(past) },
    /lost; and no process leads\. Start `sluice scheduler`, `sluice up` or an engine without `lead: false`;/,
  ],
  ['stopping', { state: 'running', worker: 7, cancelRequestedAt: now }, {}, /asked to stop/],
  ['not before', { state: 'scheduled', runAt: later }, {}, /2030-01-01T14:02:00.000Z\.$/],
  [
    'not before',
    { state: 'scheduled', runAt: later, attempt: 1, error: { message: 'smtp down' } },
    {},
    /14:02:00.000Z\. Attempt 1 of 5 ended with: smtp down\.$/,
  ],
  [
    'not before',
    { state: 'scheduled', runAt: later },
    { leaderUntil: new Date(0), kindPaused: { reason: null } },
    /14:02:00.000Z\. No process leads, so it would not start then either\. Start `sluice scheduler`, .*`lead: false`\.$/,
  ],
  ['waiting for another job', { state: 'scheduled' }, { followsKey: true }, /same key/],
  ['waiting for leader', { state: 'scheduled', runAt: now }, {}, /within moments/],
  [
    'waiting for leader',
    { state: 'scheduled', runAt: now },
    { leaderUntil: now },
    /due, and no process leads\. Start `sluice scheduler`, `sluice up` or an engine without `lead: false`;/,
  ],
  ['paused', { state: 'paused' }, { kindPaused: { reason: 'provider down' } }, /kind mail is paused: provider down\. Resume/],
  ['paused', { state: 'paused' }, { kindPaused: { reason: null } }, /kind mail is paused\. Resume/],
  ['waiting for leader', { state: 'paused' }, {}, /was resumed/],
  ['in an open transaction', { state: 'paused' }, { heldBy: holder }, /^The job is in a transaction/],
  ['in an open transaction', { state: 'scheduled', runAt: now }, { heldBy: holder }, /^The job is in a transaction/],
  ['paused', {}, { kindPaused: { reason: null }, workers: [] }, /kind mail/],
  ['paused', {}, { poolPaused: { reason: 'disk full' }, workers: [] }, /pool light is paused: disk full/],
  ['no worker for this pool', {}, { workers: [] }, /serves the pool light\. Start/],
  ['no worker knows this kind', {}, { workers: [{ ...free, knowsKind: false }] }, /defines the kind mail\. Start/],
  ['runs alone next', { crashes: 2 }, {}, /in 2 processes that died/],
  [
    'another runs alone',
    {},
    { workers: [{ ...free, alone: 7 }] },
    /^The one process that could run it runs nothing beside job 7/,
  ],
  [
    'another runs alone',
    {},
    {
      workers: [
        { ...free, alone: 7 },
        { ...free, alone: 8 },
      ],
    },
    /^All 2 processes that could run it run nothing beside job 7/,
  ],
  ['next in line', {}, { workers: [{ ...free, alone: 7 }, free] }, /starts within moments/],
  ['pool full', {}, { workers: [{ ...free, running: 10 }], ahead: 4 }, /All slots of the pool light are taken.*4 jobs go first/],
  ['pool full', {}, { workers: [{ ...free, running: 10 }], ahead: 1 }, /1 job goes first/],
  [
    'pool full',
    {},
    {
      workers: [
        { ...free, running: 10 },
        { ...free, knowsKind: false },
      ],
    },
    /in the one process that could run it; no other goes first/,
  ],
  ['next in line', {}, { workers: [{ ...free, running: 10 }, free], ahead: aheadMax }, /1000 or more jobs go first/],
  [
    'pool full',
    {},
    {
      workers: [
        { ...free, running: 10 },
        { ...free, running: 12 },
      ],
    },
    /in all 2 processes/,
  ],
  ['next in line', {}, {}, /starts within moments/],
  [
    'in an open transaction',
    { lane: 'api' },
    { lane: { ...lane, heldBy: holder, paused: 'token revoked' } },
    /lane api is in a transaction that session 42 \(psql\) has kept open since 2030-01-01T11:00.*pg_terminate_backend\(42\)/,
  ],
  [
    'in an open transaction',
    {},
    { owner: { ...owner, heldBy: { ...holder, application: '' } }, lane },
    /owner ann.*session 42 has/,
  ],
  ['in an open transaction', {}, { heldBy: holder }, /^The job is in a transaction/],
  ['paused', { lane: 'api' }, { lane: { ...lane, paused: 'token revoked' } }, /lane api is paused: token revoked\. Resume/],
  ['paused', { lane: 'api' }, { lane: { ...lane, paused: 'paused' } }, /lane api is paused\. Resume/],
  ['held', { lane: 'api' }, { lane: { ...lane, holdUntil: soon } }, /lane api is held until 2030-01-01T14:02/],
  ['next in line', { lane: 'api' }, { lane: { ...lane, holdUntil: past } }, /starts within moments/],
  ['breaker open', { lane: 'api' }, { lane: { ...lane, brokenUntil: soon } }, /nothing starts before 2030-01-01T14:02/],
  ['one job finds out', { lane: 'api' }, { lane: { ...lane, brokenUntil: past } }, /whether it works again/],
  ['one job finds out', { lane: 'api' }, { lane: { ...lane, metered: true } }, /find out its budget/],
  ['next in line', { lane: 'api' }, { lane: { ...lane, metered: true, inFlight: 0 } }, /starts within moments/],
  ['cap reached', { lane: 'api' }, { lane: { ...lane, cap: 3, inFlight: 3 } }, /lane api runs as many jobs as it may: 3/],
  [
    'budget used up',
    { lane: 'api' },
    { lane: { ...lane, metered: true, permits: 4, cost: 5, resetAt: soon } },
    /lane api has used up its budget until 2030-01-01T14:02/,
  ],
  ['next in line', { lane: 'api' }, { lane: { ...lane, metered: true, permits: 5, cost: 5, resetAt: soon } }, /moments/],
  ['paused', {}, { owner: { ...owner, paused: 'left' }, lane }, /owner ann is paused: left/],
  ['held', {}, { owner: { ...owner, holdUntil: soon }, lane }, /owner ann is held until 2030-01-01T14:02/],
  ['cap reached', {}, { owner: { ...owner, cap: 1 }, lane }, /owner ann runs as many jobs as it may: 1/],
])('[E-26] %s: %j, %j', (reason, fields, surroundings, text) => {
  const explanation = explain({ ...ready, ...fields }, { ...quiet, ...surroundings })
  expect(explanation).toMatchObject({ reason, text: expect.stringMatching(text) })
  expect(explanation.text).toMatch(/^[A-Z].*\.$/)
})

test('[E-26] a job that is not due says until when', () => {
  expect(explain({ ...ready, state: 'scheduled', runAt: later }, quiet).until).toEqual(later)
})
