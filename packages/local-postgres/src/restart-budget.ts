/**
 * Restart budget: how often a server that died may be started again.
 *
 * One death is an accident and is repaired at once. Deaths that follow each other are given more and more room, and the
 * fifth within a minute means that starting again will not help: then somebody has to look at the log.
 */
export const maxDeaths = 5
export const windowMs = 60_000
const firstPauseMs = 250

export function decideRestart(deaths: readonly number[], now: number): { pauseMs: number } | 'give up' {
  const recent = deaths.filter((death) => death > now - windowMs).length
  if (recent >= maxDeaths) return 'give up'
  return { pauseMs: recent <= 1 ? 0 : firstPauseMs * 2 ** (recent - 1) }
}
