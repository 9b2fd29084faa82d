/** The run that fills a shadow: a collection like any other for another body of data, behind the live one, and for nobody's statistics. */
import { defineRun, done, type RunKind } from '@sluice/engine'
import { type Strategy, strategies } from '../collection/collection.ts'
import { collectPayload, finalizerRetry, plan } from '../request/collect.ts'
import { shadowNameOf } from '../request/run-names.ts'
import type { Services } from '../walk/workshop.ts'
import { behind, lowerNext } from './lowered.ts'
import { shadowEnded } from './shadow-ended.ts'

export type ShadowRun = RunKind<typeof collectPayload>

const runs = new Map<Strategy, ShadowRun>(
  strategies.map((strategy) => [
    strategy,
    defineRun(shadowNameOf(strategy), {
      payload: collectPayload,
      retry: finalizerRetry,
      priority: -behind,
      plan: async (job, services: Services) => lowerNext(await plan(job, services)),
      finalize: ({ owner, payload: { run, total, failed } }) =>
        done({ publish: [shadowEnded({ run, kind: shadowNameOf(strategy), total, failed }, { owner: owner as string })] }),
    }),
  ]),
)

export const shadowRuns: readonly ShadowRun[] = [...runs.values()]

export function shadowRunOf(strategy: Strategy): ShadowRun {
  return runs.get(strategy) as ShadowRun
}
