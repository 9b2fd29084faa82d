/**
 * What becomes of a repository's state when a listing shows it.
 *
 * Being listed brings back what was deleted or left. One that GitHub blocked, or that this token may not read, is listed all the same; asking it again in
 * every run would spend a call for nothing, so it keeps its state for a day and is then tried again.
 */
import type { Repository, RepositoryState } from './repository.ts'

export const triedAgainAfterMs = 86_400_000

export function listedState(
  stored: Pick<Repository, 'state' | 'stateSince'> | undefined,
  listed: { readonly head: string | null; readonly disabled?: boolean },
  now: number,
): RepositoryState {
  if (listed.disabled) return 'blocked'
  const barred = stored?.state === 'blocked' || stored?.state === 'forbidden'
  if (barred && now < stored.stateSince.getTime() + triedAgainAfterMs) return stored.state
  return listed.head === null ? 'empty' : 'active'
}
