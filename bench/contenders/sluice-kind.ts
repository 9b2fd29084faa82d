/**
 * The job that every bench of ours enqueues: a small payload, a dedupe key (a hash of kind and payload), no work.
 */
import { defineKind, done } from '@sluice/engine'
import { z } from 'zod'

export const noop = (onJob: (n: number) => void) =>
  defineKind('bench.noop', {
    payload: z.object({ n: z.number() }),
    dedupe: 'keep',
    run({ payload }) {
      onJob(payload.n)
      return done()
    },
  })
