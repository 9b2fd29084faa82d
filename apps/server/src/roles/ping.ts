/**
 * `sluice.ping`: a kind that is always there, so that a newcomer can enqueue something and see it run, wait, fail and come back.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { defineKind, exponential } from '@sluice/engine'
import { z } from 'zod'

const takeMsMax = 600_000

export const ping = defineKind('sluice.ping', {
  payload: z.strictObject({
    message: z.string().max(1_000).optional(),
    /** How often it fails before it succeeds. */
    failTimes: z.int().min(0).max(100).optional(),
    takeMs: z.int().min(0).max(takeMsMax).optional(),
  }),
  retry: exponential({ first: '1s', factor: 2, cap: '30s', attempts: 5 }),
  timeout: '11m',
  async run({ payload, attempt, signal, log }) {
    const { message, failTimes = 0, takeMs = 0 } = payload
    log(message ?? 'pong')
    if (takeMs > 0) await wait(takeMs, undefined, { signal })
    if (attempt <= failTimes) throw new Error(`failed as asked: ${attempt} of ${failTimes}`)
  },
})
