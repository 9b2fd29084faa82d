/**
 * Runs one bench: starts the servers, measures, prints, stops the servers. `start.mjs` starts this with the right Node.
 */
import { parseArgs } from 'node:util'
import type { Line } from './bench.ts'
import { benches, isBenchName } from './benches/all.ts'
import { prepareGround } from './ground.ts'
import { monotonicMs } from './measure/clock.ts'
import type { RoundsPlan } from './measure/rounds.ts'
import { lineAsJson, summaryAsJson } from './output/json.ts'
import { table } from './output/table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
})
const [name = ''] = positionals
if (!isBenchName(name)) throw new Error(`no bench is named "${name}"`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const bench = benches[name]
const startedAtMs = monotonicMs()
const elapsed = () => Math.round((monotonicMs() - startedAtMs) / 100) / 10
const plan: RoundsPlan = values.quick
  ? { rounds: 3, roundsOfOutsiders: 1, endBeforeMs: startedAtMs + 34_000 }
  : { rounds: 5, roundsOfOutsiders: 2, endBeforeMs: startedAtMs + 220_000 }

const lines: Line[] = []
const report = (line: Line) => {
  lines.push(line)
  console.error(`bench: ${elapsed()} s, round ${line.round}, ${line.contender}`)
  if (values.json) console.log(lineAsJson(name, line))
}

const ground = await prepareGround({ redis: bench.needsRedis, defaults: !values.quick })
try {
  const summary = await bench.run({ ground, quick: values.quick, plan, report })
  const { versions } = ground
  const rounds = Math.max(...lines.map(({ round }) => round))
  if (values.json) console.log(summaryAsJson(name, { ...summary, quick: values.quick, rounds, tookSeconds: elapsed(), versions }))
  else console.log(table(name, bench, lines, summary))
} catch (error) {
  console.error(`bench ${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  process.exitCode = 1
} finally {
  await ground.stop()
}
process.exit()
