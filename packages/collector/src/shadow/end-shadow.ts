/**
 * When a run of a comparison ends, well or not, somebody looks whether the other one has ended too. Whoever comes last makes the report, and then the shadows
 * go, unless they are to be kept. Of runs that fail or are canceled, which are few, the engine tells of all.
 *
 * The report is stored once. Broken off after it, the next try only clears away.
 */
import { defineKind, type Run, runCanceled, runFailed } from '@sluice/engine'
import { removeShadow } from '../collection/collection.ts'
import { activeStates, runNames } from '../request/run-names.ts'
import { foldSpent } from '../spent/spent.ts'
import { endRecord } from '../strategy/run-record.ts'
import type { Services } from '../walk/workshop.ts'
import { makeReport } from './make-report.ts'
import { findShadowOfRun, storeReport } from './shadow.ts'
import { shadowEnded, shadowEnding } from './shadow-ended.ts'

const names: ReadonlySet<string> = new Set([runNames.shadowGraphql, runNames.shadowRest])
const active: ReadonlySet<string> = new Set(activeStates)

export const endShadow = defineKind('collector.end-shadow', {
  payload: shadowEnding,
  on: [shadowEnded, runFailed, runCanceled],
  async run({ payload: { run, kind, total, failed } }, { collector: { engine } }: Services): Promise<void> {
    if (!names.has(kind)) return
    const shadow = await findShadowOfRun(engine, run)
    await engine.transaction(async (tx) => {
      await endRecord(tx, { run, jobs: total, failed })
      await foldSpent(tx, run)
    })
    if (!shadow) return
    const runs: Run[] = []
    for (const side of shadow.sides) {
      const found = await engine.runs.find(side.run)
      if (!found || active.has(found.state)) return
      runs.push(found)
    }
    if (!shadow.finishedAt) {
      const report = await makeReport(engine, shadow, runs)
      await engine.transaction((tx) => storeReport(tx, shadow.id, report))
    }
    if (shadow.keep) return
    for (const { collection } of shadow.sides) await engine.transaction((tx) => removeShadow(tx, collection))
  },
})
