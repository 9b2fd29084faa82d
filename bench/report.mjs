/**
 * Writes the figures of the saved runs into `results/README.md`, and the comparison into the README: `node bench/report.mjs`.
 * With `--check` it writes nothing and says which page shows others.
 *
 * A run is saved by `npm run bench -- NAME --json > bench/results/NAME.jsonl`. The text around the figures is kept.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const [open, close] = ['<!-- figures -->', '<!-- end of figures -->']

/** Bench → what the table shows, and the bars that its summary is held to. */
const chapters = {
  drain: { figure: 'jobsPerSecond', unit: 'jobs/s', bars: { ratioToBestPeer: '≥ 1.5', ratioToFloor: '≥ 0.6' } },
  enqueue: {
    figure: 'jobsPerSecond',
    unit: 'jobs/s',
    bars: { bulkRatioToBestPeer: '≥ 1.2', bulkRatioToFloor: '≥ 0.7', singleRatioToBestPeer: '≥ 1.5' },
  },
  latency: {
    figure: 'p50Ms',
    second: 'p95Ms',
    unit: 'ms',
    bars: { p50RatioToBestPostgresPeer: '≤ 0.8', p95RatioToBestPostgresPeer: '≤ 0.8', p50RatioToBullmq: 'aim ≤ 1' },
  },
  delayed: { figure: 'p95LatenessMs', second: 'jobP50Ms', unit: 'ms', bars: { p95LatenessMs: '≤ 20' } },
  history: { figure: 'jobsPerSecond', unit: 'jobs/s', bars: { ratioToEmpty: '≥ 0.85' } },
  horizon: { figure: 'jobsPerSecond', second: 'lastToFirst', unit: 'jobs/s', bars: { ratioToFree: '≥ 0.6' } },
  idle: {
    figure: 'statementsPerMinute',
    second: 'idleRssMb',
    unit: 'statements/min',
    bars: { statementsPerMinute: '≤ 15', claimStatements: '0', idleRssMb: '≤ 110' },
  },
  recovery: { figure: 'seconds', unit: 's', bars: { seconds: '≤ 15', lost: '0', doubled: '0' } },
  lanes: {
    figure: 'jobsPerSecond',
    unit: 'jobs/s',
    bars: {
      closedBacklogRatio: '≥ 0.9',
      lanedToUnlaned: '≥ 0.6',
      overdrawn: '0',
      unusedAtReset: '≤ 0.05',
      claimsBeforeStranger: '≤ 2',
      weightError: '≤ 0.1',
      closeMs: '≤ 10',
    },
  },
  api: { figure: 'listMs', second: 'detailMs', unit: 'ms', bars: { millionToThousand: '≤ 1.5' } },
  runs: {
    figure: 'jobsPerSecond',
    unit: 'jobs/s',
    bars: { manyRunsRatio: '≥ 0.8', oneRunRatio: '≥ 0.6', completions: 'one each' },
  },
  collect: {
    figure: 'units',
    second: 'seconds',
    unit: 'quota units',
    bars: {
      coldUnits: '≤ 500',
      warmUnitsPerUser: '≤ 4',
      churnUnitsPerItem: '≤ 0.5',
      missing: '0',
      duplicated: '0',
      stale: '0',
      falselyDeleted: '0',
      overBudget: '0',
      sentWhileLimited: '0',
      boundRatio: '≥ 0.9',
      callsAfterRevocation: '≤ `inFlightAtRevocation`',
      inFlightAtRevocation: 'for comparison',
      refetchedPerKill: '≤ `inFlightPerKill`',
      inFlightPerKill: 'for comparison',
      completedOthers: 'all of 90',
      jain: '≥ 0.95',
      peakRssMb: '≤ 200',
    },
    beside: 'rest',
  },
  dispatch: {
    figure: 'jobsPerSecond',
    unit: 'jobs/s',
    bars: {
      redisToPostgresDrain1: 'told honestly',
      redisToPostgresDrain4: 'told honestly',
      redisToPostgresDrain16: 'told honestly',
      ratioToBullmq: 'told honestly',
      overdrawn: '0',
      circles: '0',
      idleCommandsPerMinute: '0',
    },
  },
}

/** What the README compares: bench, figure, and who did it how (`manner`, where a bench has two). The best of a peer's settings is shown. */
const comparison = [
  { title: 'drain, jobs/s', bench: 'drain', figure: 'jobsPerSecond' },
  { title: 'bulk enqueue, jobs/s', bench: 'enqueue', figure: 'jobsPerSecond', manner: ', bulk' },
  { title: '64 single enqueues at once, jobs/s', bench: 'enqueue', figure: 'jobsPerSecond', manner: ', single' },
  { title: 'start on an idle worker elsewhere, p50 ms', bench: 'latency', figure: 'p50Ms', least: true },
  { title: 'delayed jobs late by, p95 ms', bench: 'delayed', figure: 'p95LatenessMs', least: true },
]
const peers = {
  'graphile-worker': 'graphile-worker',
  'pg-boss': 'pg-boss',
  'bullmq-redis': 'BullMQ on Redis',
  'bullmq-postgres': 'BullMQ on Postgres',
}

const pages = [
  ['results/README.md', Object.entries(chapters).flatMap(([name, chapter]) => chapterOf(name, chapter))],
  ['../README.md', comparisonTable()],
]
for (const [path, lines] of pages) {
  const page = new URL(path, import.meta.url)
  const text = readFileSync(page, 'utf8')
  const written = `${text.slice(0, text.indexOf(open) + open.length)}\n\n${lines.join('\n')}\n${text.slice(text.indexOf(close))}`
  if (written === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${relative('.', fileURLToPath(page))} does not show the saved runs: node bench/report.mjs`)
    process.exitCode = 1
  } else writeFileSync(page, written)
}

function comparisonTable() {
  const rows = comparison.map(({ title, bench, figure, manner = '', least = false }) => {
    const byContender = groupBy(linesOf(bench).filter((line) => typeof line[figure] === 'number'))
    const medianOf = (contender) =>
      byContender.has(contender) ? [median(byContender.get(contender).map((line) => line[figure]))] : []
    const best = Object.keys(peers).map((peer) => {
      const settings = ['tuned', 'default'].flatMap((setting) => medianOf(`${peer} ${setting}${manner}`))
      return least ? Math.min(...settings) : Math.max(...settings)
    })
    const cells = [...medianOf(`sluice tuned${manner}`), ...best].map((value) => show(value, 3))
    return `| ${title} | ${cells.join(' | ')} |`
  })
  return [
    `| | Sluice | ${Object.values(peers).join(' | ')} |`,
    `|---|${'---|'.repeat(Object.keys(peers).length + 1)}`,
    ...rows,
    '',
  ]
}

function linesOf(name) {
  const file = new URL(`results/${name}.jsonl`, import.meta.url)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{')) // npm writes what it runs above
    .map((line) => JSON.parse(line))
}

function chapterOf(name, { figure, second, unit, bars, beside }) {
  const lines = linesOf(name)
  if (lines.length === 0) return []
  const summary = lines.find((line) => line.summary)
  const columns = [figure, ...(second ? [second] : [])]
  const heading = `## ${name}`
  const rows = [...groupBy(lines.filter((line) => !line.summary && figure in line))].map(([contender, own]) => {
    const cells = columns.map((column) => spread(own.map((line) => line[column])))
    return `| ${contender} | ${cells.join(' | ')} | ${own.length} |`
  })
  const shown = (key) => [summary, ...(beside ? [summary[beside]] : [])].map((side) => show(side[key])).join(' | ')
  const held = Object.entries(bars).map(([key, bar]) => `| \`${key}\` | ${shown(key)} | ${bar} |`)
  const titles = columns.map((column, at) => (at === 0 && column !== unit ? `${column}, ${unit}` : column))
  return [
    heading,
    '',
    `| | ${titles.join(' | ')} | rounds |`,
    `|---|${columns.map(() => '---|').join('')}---|`,
    ...rows,
    '',
    `| summary | ${beside ? `| ${beside} ` : ''}| bar |`,
    `|---|---|${beside ? '---|' : ''}---|`,
    ...held,
    '',
  ]
}

function groupBy(lines) {
  const groups = new Map()
  for (const line of lines) groups.set(line.contender, [...(groups.get(line.contender) ?? []), line])
  return groups
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = median(values)
  return sorted.length === 1 ? show(middle) : `**${show(middle)}** (${show(sorted[0])} … ${show(sorted.at(-1))})`
}

function show(value, digits = 4) {
  return typeof value === 'number' ? Number(value.toPrecision(digits)).toLocaleString('en') : String(value)
}
