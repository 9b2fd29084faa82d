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
  about:
    'quota that a collection costs, cold, warm and under churn; whether it is whole; and whether it keeps budgets, survives kills and is fair',
  needsRedis: false,
  headline: { figure: 'units', unit: 'units' },
  async run(setting) {
    const { ground, quick } = setting
    const proof = await proveDurable(ground)
    const [ours, rest] = [new Playbill(setting, 'graphql'), new Playbill(setting, 'rest')]
    const people = Number(process.env.SLUICE_BENCH_USERS ?? (quick ? 20 : 150))
    const summary = {
      ...(await costs(setting, ours, { cold: 1, churn: quick ? 0.1 : 1 })),
      ...(await troubles(setting, ours)),
    }
    const members = await ours.play('registry', registry(ground, people))
    const beside = {
      ...(await costs(setting, rest, { cold: quick ? 0.05 : 1, churn: quick ? 0.03 : 0.1 })),
      ...(quick ? {} : await troubles({ ...setting, quick: true }, rest)),
    }
    return {
      ...summary,
      ...ours.counts(),
      rest: { ...beside, ...rest.counts() },
      coldUnitsOfRestToOurs: quick ? null : beside.coldUnits / summary.coldUnits,
      registry: members,
      proof,
    }
  },
}

type Played = Figures & { readonly overBudget: number; readonly sentWhileLimited: number }

/** Reports each scenario of a strategy as it ends, and adds up what must not happen in any of them. */
class Playbill {
  readonly strategy: Strategy
  readonly #report: Setting['report']
  readonly #played: Played[] = []

  constructor({ report }: Setting, strategy: Strategy) {
    this.strategy = strategy
    this.#report = report
  }

  async play<Figured extends Played>(name: string, scenario: Promise<Figured>): Promise<Figured> {
    const figures = await scenario
    this.#played.push(figures)
    this.#report({ round: 1, contender: `${name} ${this.strategy}`, figures })
    return figures
  }

  counts(): { overBudget: number; sentWhileLimited: number } {
    const sum = (what: keyof Played) => this.#played.reduce((total, figures) => total + Number(figures[what]), 0)
    return { overBudget: sum('overBudget'), sentWhileLimited: sum('sentWhileLimited') }
  }
}

async function costs({ ground, quick }: Setting, bill: Playbill, share: { cold: number; churn: number }) {
  const first = await bill.play('cold', cold(ground, bill.strategy, share.cold))
  const changed = await bill.play('churn', churn(ground, bill.strategy, share.churn, quick ? 2 : 1))
  return {
    coldUnits: first.coldUnits,
    coldCommits: first.commits,
    warmUnitsPerUser: first.warmUnitsPerUser,
    churnUnitsPerItem: changed.churnUnitsPerItem,
    missing: changed.missing,
    duplicated: changed.duplicated,
    stale: changed.stale,
    falselyDeleted: changed.falselyDeleted,
  }
}

async function troubles({ ground, quick }: Setting, bill: Playbill) {
  const { strategy } = bill
  const large = { graphql: quick ? 10_000 : 100_000, rest: 2_000 }
  const { boundRatio } = await bill.play('windows', windows(ground, strategy, quick))
  const revoked = await bill.play('revocation', revocation(ground, strategy))
  const killed = await bill.play('kills', kills(ground, strategy, quick ? 5 : 50))
  const fair = await bill.play('crowd', crowd(ground, strategy, quick))
  const { peakRssMb } = await bill.play('memory', memory(ground, strategy, large[strategy]))
  return {
    boundRatio,
    callsAfterRevocation: revoked.callsAfterRevocation,
    inFlightAtRevocation: revoked.inFlightAtRevocation,
    refetchedPerKill: killed.refetchedPerKill,
    inFlightPerKill: killed.inFlightPerKill,
    completedOthers: fair.completedOthers,
    others: fair.others,
    jain: fair.jain,
    peakRssMb,
  }
}
