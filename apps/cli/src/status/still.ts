/**
 * What stands still: kinds, pools, lanes, owners and schedules that somebody paused, in one list, and schedules that cannot be read; and how each goes on.
 */
import type { Engine, Pause } from '@sluice/engine'

export interface Standing {
  readonly scope: Pause['scope'] | 'schedule'
  readonly name: string
  readonly reason: string | null
  readonly since: Date | null
}

/** A schedule that fires no more until it is mended. */
export interface Troubled {
  readonly name: string
  readonly reason: string
}

/** More would push the rest off the page. */
const toldMax = 10

export async function readStill(engine: Engine): Promise<{ pauses: Standing[]; troubled: Troubled[] }> {
  const [pauses, schedules] = await Promise.all([engine.pauses(), engine.schedules.list()])
  const paused = schedules
    .filter(({ pausedAt }) => pausedAt !== null)
    .map(({ name, pausedReason, pausedAt }) => ({ scope: 'schedule' as const, name, reason: pausedReason, since: pausedAt }))
  const troubled = schedules.flatMap(({ name, pausedAt, nextAt, error }) =>
    pausedAt === null && nextAt === null && error ? [{ name, reason: error.message }] : [],
  )
  return { pauses: [...pauses, ...paused], troubled }
}

export function describePauses(pauses: readonly Standing[]): string[] {
  const left = pauses.length - toldMax
  return [
    ...pauses.slice(0, toldMax).map(describePause),
    ...(left > 0
      ? [`${left} more ${left === 1 ? 'pause holds' : 'pauses hold'} something back: \`sluice status --json\` has all.`]
      : []),
  ]
}

export function describeTroubled(troubled: readonly Troubled[]): string[] {
  return troubled
    .slice(0, toldMax)
    .map(
      ({ name, reason }) =>
        `The schedule ${name} does not fire: ${reason.replace(/\.$/, '')}. \`sluice schedules show ${quoted(name)}\` tells more.`,
    )
}

function describePause({ scope, name, reason }: Standing): string {
  const why = reason && reason !== 'paused' ? `: ${reason.replace(/\.$/, '')}` : '' // what a lane says when nobody gave a reason
  return `The ${scope} ${name} is paused${why}. \`sluice ${scope}s resume ${quoted(name)}\` lets it go on.`
}

/** As a shell takes it. */
function quoted(name: string): string {
  return /^[\w.:@%+,/][\w.:@%+,/-]*$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`
}
