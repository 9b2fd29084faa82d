/** The report of a comparison, from what its runs left in the database. */
import { type Engine, type Executor, onClient, type Run } from '@sluice/engine'
import sql from 'sql-template-tag'
import { readSpent } from '../spent/spent.ts'
import { countDeeds } from '../statistics/deeds.ts'
import { formulaVersion, score } from '../statistics/score.ts'
import { type ComparedRows, comparedNouns, compareRows } from './compare-rows.ts'
import type { NounDifference, ReportedSide, ShadowReport, ShadowStatistics } from './report.ts'
import type { Shadow, ShadowSide } from './shadow.ts'
import { shadowRunOf } from './shadow-run.ts'

/** More than any account makes. */
const countedJobsMax = 10_000_000

/** Both bodies of data are looked at in one transaction. */
export async function makeReport(engine: Engine, { userId, keep, sides }: Shadow, runs: readonly Run[]): Promise<ShadowReport> {
  return engine.transaction(async (tx) => {
    const on = onClient(tx)
    const [first, second] = sides as [ShadowSide, ShadowSide]
    const compared: ComparedRows[] = []
    for (const noun of comparedNouns) compared.push(await compareRows(on, noun, first.collection, second.collection))
    const reported: ReportedSide[] = []
    for (const [at, { strategy, collection, run }] of sides.entries()) {
      const { mergedByStars, ...deeds } = await countDeeds(tx, collection, userId)
      const statistics: ShadowStatistics = { formula: formulaVersion, ...deeds, ...score({ ...deeds, mergedByStars }) }
      reported.push({
        strategy,
        run,
        collection: keep ? collection : null,
        ...figuresOf(runs[at] as Run),
        kinds: await countKinds(on, run, shadowRunOf(strategy).finalizer ?? ''),
        spent: await readSpent(on, run),
        rows: Object.fromEntries(comparedNouns.map(({ noun }, place) => [noun, compared[place]?.rows[at] ?? 0])),
        statistics,
      })
    }
    const nouns = comparedNouns.map(
      ({ noun }, place): NounDifference => ({
        noun,
        only: sides.map(({ strategy }, at) => ({ strategy, ...(compared[place] as ComparedRows).only[at as 0 | 1] })),
        unlike: (compared[place] as ComparedRows).unlike,
      }),
    )
    return { sides: reported, nouns }
  })
}

function figuresOf({ state, total, failed, createdAt, finishedAt }: Run) {
  const tookMs = finishedAt ? finishedAt.getTime() - createdAt.getTime() : 0
  return { state, tookMs, jobs: total, failed, errorRate: total === 0 ? 0 : failed / total }
}

/** Without the finalizer, which is in no count of a run. */
async function countKinds(on: Executor, run: number, finalizer: string): Promise<ReportedSide['kinds']> {
  const { rows } = await on.query<{ kind: string; jobs: number; failed: number }>(sql`
    select kind, sum(jobs)::integer as jobs, coalesce(sum(jobs) filter (where state = 'failed'), 0)::integer as failed
    from sluice.count_run(${run}, ${countedJobsMax})
    where kind <> ${finalizer}
    group by kind
    order by kind`)
  return rows
}
