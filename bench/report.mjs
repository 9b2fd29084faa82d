/**
 * Writes the figures of the saved runs into `results/README.md`: `node bench/report.mjs`.
 *
 * A run is saved by `npm run bench -- NAME --json > bench/results/NAME.jsonl`. The text around the figures is kept.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const page = new URL('results/README.md', import.meta.url)
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

const text = readFileSync(page, 'utf8')
const figures = Object.entries(chapters).flatMap(([name, chapter]) => chapterOf(name, chapter))
writeFileSync(
  page,
  `${text.slice(0, text.indexOf(open) + open.length)}\n\n${figures.join('\n')}\n${text.slice(text.indexOf(close))}`,
)

function chapterOf(name, { figure, second, unit, bars, beside }) {
  const file = new URL(`results/${name}.jsonl`, import.meta.url)
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{')) // npm writes what it runs above
    .map((line) => JSON.parse(line))
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

function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
  return sorted.length === 1 ? show(middle) : `**${show(middle)}** (${show(sorted[0])} … ${show(sorted.at(-1))})`
}

function show(value) {
  return typeof value === 'number' ? Number(value.toPrecision(4)).toLocaleString('en') : String(value)
}
