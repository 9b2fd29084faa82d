/** Figures that people read are those of runs that are kept: full ones, on durable servers, with the peers that are pinned. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const bench = new URL('../bench/', import.meta.url)
const pinned = (JSON.parse(readFileSync(new URL('package.json', bench), 'utf8')) as { dependencies: Record<string, string> })
  .dependencies

interface Summary {
  readonly quick: boolean
  readonly rounds: number
  readonly tookSeconds: number
  readonly proof: Record<string, string>
  readonly versions: Record<string, string>
  readonly [figure: string]: unknown
}

/** What each bench promises to tell, and how many rounds it takes at least. */
const benches: readonly [name: string, rounds: number, figures: string[]][] = [
  ['drain', 5, ['ratioToBestPeer', 'ratioToFloor']],
  ['enqueue', 5, ['bulkRatioToBestPeer', 'bulkRatioToFloor', 'singleRatioToBestPeer']],
  ['latency', 5, ['p50RatioToBestPostgresPeer', 'p95RatioToBestPostgresPeer', 'p50RatioToBullmq']],
  ['delayed', 5, ['p95LatenessMs']],
  ['history', 5, ['ratioToEmpty']],
  ['horizon', 5, ['ratioToFree']],
  ['idle', 3, ['statementsPerMinute', 'claimStatements', 'idleRssMb']],
  ['recovery', 5, ['seconds', 'lost', 'doubled']],
  [
    'lanes',
    5,
    ['closedBacklogRatio', 'lanedToUnlaned', 'overdrawn', 'unusedAtReset', 'claimsBeforeStranger', 'weightError', 'closeMs'],
  ],
  ['runs', 5, ['manyRunsRatio', 'oneRunRatio', 'completions']],
]

const linesOf = (name: string): Record<string, unknown>[] =>
  readFileSync(new URL(`results/${name}.jsonl`, bench), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test.each(benches)(
  '[Q-04] the kept run of %s is a full one on durable servers, and tells its figures',
  (name, rounds, figures) => {
    const lines = linesOf(name)
    const summary = lines.at(-1) as unknown as Summary
    expect(summary).toMatchObject({
      bench: name,
      summary: true,
      quick: false,
      proof: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
      versions: pinned,
    })
    expect(summary.rounds).toBeGreaterThanOrEqual(rounds)
    expect(summary.tookSeconds).toBeLessThan(240)
    for (const figure of figures) expect(summary[figure], figure).toBeTypeOf('number')
  },
)

test.each(['drain', 'enqueue', 'latency', 'delayed'])(
  '[Q-04] the kept run of %s has every peer, with default settings and tuned',
  (name) => {
    const contenders = new Set(linesOf(name).map(({ contender }) => String(contender).split(',')[0]))
    for (const peer of ['sluice', 'graphile-worker', 'pg-boss', 'bullmq-redis', 'bullmq-postgres'])
      for (const settings of ['default', 'tuned']) expect(contenders).toContain(`${peer} ${settings}`)
  },
)

test.each(['drain', 'enqueue'])('[Q-04] the kept run of %s has the floor, the bare statements', (name) => {
  const contenders = linesOf(name).map(({ contender }) => String(contender).split(',')[0])
  expect(contenders).toContain('floor')
})

test('[Q-04] the pages show the runs that are kept', () => {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('report.mjs', bench)), '--check'], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
