/**
 * Collect: what it costs to collect people's work on GitHub, and whether what is collected is the truth.
 *
 * GitHub is the simulator in a process of its own; workers are processes of their own; what is true, what was asked and what it cost is said by the simulator alone. Each scenario
 * has a fresh database and a fresh GitHub, and proves what it claims before it reports. The seeds' own way, one REST call a commit, runs beside ours.
 *
 * SLUICE_BENCH_USERS=10000 makes the registry as large as it is meant to be; that takes its time.
 */
import type { Strategy } from '@sluice/collector'
import type { Bench, Figures, Setting } from '../bench.ts'
import { proveDurable } from '../proof.ts'
import { churn } from './collect/churn.ts'
import { cold } from './collect/cold.ts'
import { crowd } from './collect/crowd.ts'
import { kills } from './collect/kills.ts'
import { memory } from './collect/memory.ts'
import { registry } from './collect/registry.ts'
import { revocation } from './collect/revocation.ts'
import { windows } from './collect/windows.ts'

export const collectBench: Bench = {
  about: 'quota that a collection costs, cold, warm and under churn; whether it is whole; and whether it keeps budgets, survives kills and is fair',
  needsRedis: false,
  headline: { figure: 'units', unit: 'units' },
  async run(setting) {
    const proof = await proveDurable(setting.ground)
    const ours = await measure(setting, 'graphql')
    const { ground, quick, report } = setting
    const people = Number(process.env.SLUICE_BENCH_USERS ?? (quick ? 50 : 500))
    const members = await registry(ground, people)
    report({ round: 1, contender: 'registry graphql', figures: members })
    const rest = await measure(setting, 'rest')
    const { overBudget, sentWhileLimited, ...summary } = ours
    return {
      ...summary,
      overBudget: overBudget + members.overBudget,
      sentWhileLimited: sentWhileLimited + members.sentWhileLimited,
      rest,
      coldRatio: rest.coldUnits / ours.coldUnits,
      registry: members,
      proof,
    }
  },
}

async function measure({ ground, quick, report }: Setting, strategy: Strategy) {
  const [overBudget, sentWhileLimited]: [number[], number[]] = [[], []]
  async function play<Played extends Figures & { overBudget: number; sentWhileLimited: number }>(name: string, scenario: Promise<Played>) {
    const figures = await scenario
    overBudget.push(figures.overBudget)
    sentWhileLimited.push(figures.sentWhileLimited)
    report({ round: 1, contender: `${name} ${strategy}`, figures })
    return figures
  }
  const slow = strategy === 'rest'
  const first = await play('cold', cold(ground, strategy, quick && slow ? 0.1 : 1))
  const changed = await play('churn', churn(ground, strategy, quick || slow ? 0.4 : 1))
  const bound = await play('windows', windows(ground, strategy, quick || slow))
  const revoked = await play('revocation', revocation(ground, strategy))
  const killed = await play('kills', kills(ground, strategy, quick || slow ? 5 : 50))
  const fair = await play('crowd', crowd(ground, strategy, quick || slow))
  const large = await play('memory', memory(ground, strategy, quick || slow ? 10_000 : 100_000))
  return {
    coldUnits: first.coldUnits,
    warmUnitsPerUser: first.warmUnitsPerUser,
    churnUnitsPerItem: changed.churnUnitsPerItem,
    missing: changed.missing,
    duplicated: changed.duplicated,
    stale: changed.stale,
    falselyDeleted: changed.falselyDeleted,
    overBudget: sum(overBudget),
    sentWhileLimited: sum(sentWhileLimited),
    boundRatio: bound.boundRatio,
    callsAfterRevocation: revoked.callsAfterRevocation,
    inFlightAtRevocation: revoked.inFlightAtRevocation,
    refetchedPerKill: killed.refetchedPerKill,
    inFlightPerKill: killed.inFlightPerKill,
    completedOthers: fair.completedOthers,
    jain: fair.jain,
    peakRssMb: large.peakRssMb,
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
