/**
 * Clocks of the bench. `monotonicMs` reads CLOCK_MONOTONIC, which all processes of one machine share, so a time taken in one
 * process can be subtracted from a time taken in another. `wallMs` is for due times, which are wall-clock times by nature.
 */
import { performance } from 'node:perf_hooks'

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6

export const wallMs = (): number => performance.timeOrigin + performance.now()

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
