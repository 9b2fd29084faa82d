/** The numbers of a real engine: counted as it happens, read in one look, bounded. */
import { readFile } from 'node:fs/promises'
import { defineKind, defineRun, done, fail } from '@sluice/engine'
import { expect } from 'vitest'
import { eventually, test } from '../../../../test/support/database.ts'
import { countedMax } from './gauges.ts'
import { createTelemetry } from './telemetry.ts'

const silent = () => createTelemetry({ level: 'silent', version: '1.2.3' })
const quick = defineKind('quick', { run: () => {} })
const bad = defineKind('bad', { run: () => fail('no') })

/** Values by name and labels, as a scraper would read them. */
function read(text: string): Map<string, number> {
  const samples = text.split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

test('[O-07] counters and histograms tell what happened in this process', async ({ engines }) => {
  const telemetry = silent()
  const engine = engines({ kinds: [quick, bad], observe: telemetry.observer, log: telemetry.engineLog })
  await engine.start()
  await engine.enqueueMany([quick({}), quick({}), bad({})])
  const scraped = await eventually(async () => {
    const values = read((await telemetry.metrics(engine)).text)
    // A process counts what it ended when it hears that the database has it.
    const quickEnded = values.get('sluice_jobs_ended_total{kind="quick",outcome="done"}') === 2
    const badEnded = values.get('sluice_jobs_ended_total{kind="bad",outcome="failed"}') === 1
    return quickEnded && badEnded && values.get('sluice_jobs{pool="light",state="failed"}') === 1 && values
  })
  expect(scraped.get('sluice_jobs_enqueued_total{kind="quick"}')).toBe(2)
  expect(scraped.get('sluice_job_run_seconds_count{kind="quick"}')).toBe(2)
  expect(scraped.get('sluice_job_wait_seconds_count{kind="quick"}')).toBe(2)
  expect(scraped.get('sluice_leader_active')).toBe(1)
  expect(scraped.get('sluice_leading')).toBe(1)
  expect(scraped.get('sluice_workers')).toBe(1)
  expect(scraped.get('sluice_database_up')).toBe(1)
  expect(scraped.get(`sluice_build_info{version="1.2.3",node="${process.versions.node}"}`)).toBe(1)
  expect(scraped.get('process_resident_memory_bytes')).toBeGreaterThan(0)
})

test('[O-07] gauges tell how things stand: ready, delayed, retrying, closed lanes with their reason, runs, ages', async ({
  engines,
  client,
}) => {
  const telemetry = silent()
  const call = defineKind('call', { lane: 'api', run: () => {} })
  const sweep = defineRun('sweep', { plan: () => done() })
  const engine = engines({ kinds: [quick, bad, call], runs: [sweep] })
  await engine.enqueueMany([quick({}), quick({}), quick({}, { delay: '1h' }), quick({}, { delay: '2h' }), call({})])
  await engine.runs.start(sweep({}))
  await engine.lanes.hold('api', new Date(Date.now() + 60_000))
  await client.query(`
    update sluice.lane set shut = true, opens_at = hold_until where key = 'api';
    update sluice.job set attempt = 1 where id = (select max(id) from sluice.job where shelf = 'scheduled');
    update sluice.job set rank = rank - 90000 where id = (select min(id) from sluice.job);
    insert into sluice.worker (id, name, lease_until) values (7, 'a:1', 'infinity'), (8, 'b:1', '-infinity');
    update sluice.job set worker = 7, started_at = sluice.now() - interval '11 min' where id = 2`)
  const values = read((await telemetry.metrics(engine)).text)
  expect(values.get('sluice_jobs{pool="light",state="ready"}')).toBe(3)
  expect(values.get('sluice_jobs{pool="light",state="running"}')).toBe(1)
  expect(values.get('sluice_jobs{pool="light",state="scheduled"}')).toBe(2)
  expect(values.get('sluice_jobs_retrying{kind="quick"}')).toBe(1)
  expect(values.get('sluice_lanes_closed{reason="held"}')).toBe(1)
  expect(values.get('sluice_lanes_closed{reason="spent"}')).toBe(0)
  expect(values.get('sluice_runs_active{state="created"}')).toBe(1)
  expect(values.get('sluice_oldest_ready_seconds{pool="light"}')).toBeGreaterThanOrEqual(90)
  expect(values.get('sluice_oldest_running_seconds{pool="light"}')).toBeGreaterThanOrEqual(660)
  expect(values.get('sluice_workers')).toBe(1)
  expect(values.get('sluice_leader_active')).toBe(0)
})

test('[O-07] counting stops at a limit, so a scrape costs the same however many jobs there are', async ({ engines }) => {
  const telemetry = silent()
  const engine = engines({ kinds: [quick] })
  await engine.enqueueMany(Array.from({ length: countedMax + 50 }, () => quick({})))
  const values = read((await telemetry.metrics(engine)).text)
  expect(values.get('sluice_jobs{pool="light",state="ready"}')).toBe(countedMax)
  expect(values.get('sluice_jobs_counted_max')).toBe(countedMax)
})

test('[O-07] scrapes that come together share one look at the database', async ({ engines, client }) => {
  const telemetry = silent()
  const engine = engines({ kinds: [quick] })
  await engine.migrate()
  await client.query('begin; lock table sluice.leader in access exclusive mode')
  const scrapes = [telemetry.metrics(engine), telemetry.metrics(engine), telemetry.metrics(engine)]
  const looks = async (): Promise<number> => {
    await client.query('select pg_stat_clear_snapshot()') // a transaction sees the same activity again otherwise
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and query like '%sluice.measure%' and wait_event_type = 'Lock'`,
    )
    return rows[0].n
  }
  await eventually(async () => (await looks()) > 0)
  expect(await looks()).toBe(1)
  await client.query('commit')
  for (const { text } of await Promise.all(scrapes)) expect(read(text).get('sluice_database_up')).toBe(1)
})

test('[O-07] without a database a scrape is answered: it says so, keeps its counters, and shows nothing it does not know', async ({
  engines,
}) => {
  const telemetry = silent()
  const engine = engines({ kinds: [quick], observe: telemetry.observer })
  await engine.enqueue(quick({}))
  await telemetry.metrics(engine)
  await engine.stop()
  const { text, contentType } = await telemetry.metrics(engine)
  const values = read(text)
  expect(contentType).toMatch(/^text\/plain/)
  expect(values.get('sluice_database_up')).toBe(0)
  expect(values.get('sluice_jobs_enqueued_total{kind="quick"}')).toBe(1)
  expect([...values.keys()].filter((name) => /^sluice_(jobs\{|workers|leader_active|oldest)/.test(name))).toEqual([])
})

test('[O-07] a flood of kinds makes no flood of series', async ({ engines }) => {
  const telemetry = silent()
  for (let n = 0; n < 1_000; n++) telemetry.observer({ type: 'job.enqueued', job: n, kind: `kind.${n}`, created: true })
  const engine = engines({})
  const values = read((await telemetry.metrics(engine)).text)
  const series = [...values].filter(([name]) => name.startsWith('sluice_jobs_enqueued_total'))
  expect(series).toHaveLength(201)
  expect(values.get('sluice_jobs_enqueued_total{kind="other"}')).toBe(800)
})

test('[O-07] names follow the rules of Prometheus, and docs/metrics.md lists every one of them', async ({ engines }) => {
  const telemetry = silent()
  const { text } = await telemetry.metrics(engines({}))
  const defined = [...text.matchAll(/^# TYPE (sluice_\w+) (\w+)$/gm)].map(([, name, type]) => ({ name, type }))
  expect(defined.length).toBeGreaterThan(30)
  for (const { name, type } of defined) {
    expect(name).toMatch(/^sluice_[a-z]+(_[a-z]+)*$/)
    expect(name?.endsWith('_total'), name).toBe(type === 'counter')
    expect(name, 'base units only').not.toMatch(/_(ms|milliseconds|minutes|kb|mb|percent)\b/)
  }
  const document = await readFile(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8')
  const listed = [...document.matchAll(/^\| `(sluice_\w+)/gm)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(defined.map(({ name }) => name).toSorted())
})
