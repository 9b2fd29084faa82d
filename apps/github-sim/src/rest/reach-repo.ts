/**
 * From an address to a repository, past everything that may stand in between: renames, deletion, blocks and guards.
 *
 * Every sub-resource exists under its name and under its number. By name a moved repository answers with a redirect to the
 * number; by number it simply answers.
 */
import type { Repo } from '../world/model.ts'
import type { Ask, Reply } from './ask.ts'
import * as problems from './problems.ts'
import { ownerOf } from './repo-view.ts'

export interface Reached {
  readonly repo: Repo
  /** What comes after the repository in the path, without slashes at the ends; decoded. */
  readonly rest: readonly string[]
  /** The address by number, for links. */
  readonly address: string
}

export function reachRepo(ask: Ask, segments: readonly string[]): Reached | Reply {
  const named = segments[0] === 'repos'
  const rest = segments.slice(named ? 3 : 2)
  const found = named
    ? ask.world.byName(segments[1] ?? '', segments[2] ?? '')
    : /^\d+$/.test(segments[1] ?? '')
      ? ask.world.repos.get(Number(segments[1]))
      : undefined
  const page = 'rest/repos/repos#get-a-repository'
  if (!found) return problems.notFound(page)
  const repo = 'movedTo' in found ? found.movedTo : found
  if (!ask.world.isVisible(repo, ask.viewerId)) return problems.notFound(page)
  const address = [`${ask.base}/repositories/${repo.id}`, ...rest.map(encodeURIComponent)].join('/')
  if ('movedTo' in found) return problems.moved(`${address}${ask.query.size > 0 ? `?${ask.query.toString()}` : ''}`, ask.method)
  return refusal(ask, repo) ?? { repo, rest, address }
}

function refusal(ask: Ask, repo: Repo): Reply | undefined {
  if (repo.blocked === 'dmca') return problems.dmca(repo.updatedAt)
  if (repo.blocked === 'tos') return problems.tos(repo.updatedAt)
  if (repo.guard === 'sso') return problems.sso(ownerOf(ask.world, repo))
  if (repo.guard === 'ip') return problems.ipNotAllowed(ownerOf(ask.world, repo))
  return ask.mayRead ? undefined : problems.noPermission()
}
