/**
 * Who may see what. What does not exist, is deleted or is somebody's secret looks the same from outside: not found. What is
 * blocked or guarded says so, and in a list it leaves a hole with an error of its own.
 */
import type { Repo } from '../world/model.ts'
import type { AccountThing, Context, RepositoryThing } from './context.ts'
import { type Failure, forbidden } from './failure.ts'

export const isVisible = ({ world, viewer }: Context, repo: Repo | undefined): repo is Repo =>
  repo !== undefined && world.isVisible(repo, viewer.id)

/** What an organization's doors answer, if they are closed to this token. */
export function guardOf({ world }: Context, repo: Repo): Failure | undefined {
  if (repo.guard === 'sso') return forbidden.sso()
  if (repo.guard === 'ip') return forbidden.ip(world.accounts.get(repo.ownerId)?.login ?? '')
  return undefined
}

/** A repository that was asked for by name or id. */
export function openRepository(context: Context, repo: Repo): RepositoryThing {
  const failure = guardOf(context, repo)
  if (failure) throw failure
  if (repo.blocked) throw forbidden.blocked()
  if (!context.mayRead) throw forbidden.token()
  return { kind: 'Repository', repo }
}

/** A repository that something else points to: no error if it cannot be seen, it is just not there. */
export function linkedRepository(context: Context, repoId: number | null): RepositoryThing | null {
  const repo = repoId === null ? undefined : context.world.repos.get(repoId)
  return isVisible(context, repo) && !repo.guard ? { kind: 'Repository', repo } : null
}

export function accountOf({ world }: Context, id: number | null): AccountThing | null {
  const account = id === null ? undefined : world.accounts.get(id)
  return account === undefined || account.suspended ? null : { kind: account.type, account }
}
