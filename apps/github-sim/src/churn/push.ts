/**
 * Deeds on histories. Pushed commits are new at the top; a late merge brings in commits that are older than what is already
 * there; a force push drops the newest ones and puts others in their place.
 */
import { nameCommit } from '../world/commit-sha.ts'
import { draftCommit } from '../world/generate-commits.ts'
import { pushPayload } from '../world/generate-events.ts'
import type { Commit, Repo } from '../world/model.ts'
import type { Random } from '../world/random.ts'
import type { World } from '../world/world.ts'

export interface Pushed {
  readonly before: string | null
  readonly head: string | null
  readonly added: readonly string[]
  readonly dropped: readonly string[]
}

export interface Moment {
  readonly random: Random
  /** In milliseconds, on a whole second. */
  readonly now: number
  /** Makes every deed's commits differ from all others. */
  readonly ordinal: () => number
}

export function push(world: World, repo: Repo, count: number, moment: Moment): Pushed {
  const before = repo.head
  const added = chain(world, repo, before, count, moment, (at) => moment.now - (count - 1 - at) * 1000)
  return land(world, repo, before, added, added.at(-1)?.sha ?? before, moment)
}

/** A branch of `count` commits, written `daysOld` days ago, is merged now. */
export function lateMerge(world: World, repo: Repo, count: number, daysOld: number, moment: Moment): Pushed {
  const before = repo.head
  if (before === null) return push(world, repo, count, moment)
  const then = moment.now - daysOld * 86_400_000
  const history = world.commits(repo.id)
  const fork = history.find((commit) => commit.committedAt <= then) ?? history.at(-1)
  const branch = chain(world, repo, fork?.sha ?? before, count, moment, (at) => then + at * 1000)
  const tip = branch.at(-1)?.sha ?? before
  const merge = nameCommit(draft(world, repo, [before, tip], moment, moment.now))
  return land(world, repo, before, [...branch, merge], merge.sha, moment)
}

/** Goes back along the first parents, then forward again with other commits. */
export function forcePush(world: World, repo: Repo, dropped: number, added: number, moment: Moment): Pushed {
  const before = repo.head
  let base: string | null = before
  for (let at = 0; at < dropped && base !== null; at++) base = world.commit(repo.id, base)?.parents[0] ?? null
  const commits = chain(world, repo, base, added, moment, (at) => moment.now - (added - 1 - at) * 1000)
  // A branch cannot be left without any commit.
  const head = commits.at(-1)?.sha ?? base ?? before
  return land(world, repo, before, commits, head, moment)
}

function land(
  world: World,
  repo: Repo,
  before: string | null,
  commits: readonly Commit[],
  head: string | null,
  { now }: Moment,
): Pushed {
  const old = before === null ? new Set<string>() : world.reachable(repo.id, before)
  world.addCommits(repo.id, commits)
  repo.head = head
  repo.pushedAt = now
  repo.updatedAt = now
  const reached = head === null ? new Set<string>() : world.reachable(repo.id, head)
  if (head !== null && head !== before)
    world.addEvent({
      type: 'PushEvent',
      actorId: world.mainAuthor(repo),
      repoId: repo.id,
      createdAt: now,
      payload: pushPayload(repo.id, repo.id * 1000 + commits.length, before ?? '0'.repeat(40), head),
    })
  return { before, head, added: commits.map(({ sha }) => sha), dropped: [...old].filter((sha) => !reached.has(sha)) }
}

function chain(
  world: World,
  repo: Repo,
  from: string | null,
  count: number,
  moment: Moment,
  at: (index: number) => number,
): Commit[] {
  const made: Commit[] = []
  let parent = from
  for (let index = 0; index < count; index++) {
    const commit = nameCommit(draft(world, repo, parent === null ? [] : [parent], moment, at(index)))
    made.push(commit)
    parent = commit.sha
  }
  return made
}

const draft = (world: World, repo: Repo, parents: string[], { random, ordinal }: Moment, committedAt: number) =>
  draftCommit({ random, personId: world.mainAuthor(repo), ordinal: ordinal(), parents, committedAt })
