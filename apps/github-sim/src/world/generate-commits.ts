/**
 * Makes the history of one repository from the seed: a main line with short side branches that are merged back. The same
 * plan always gives the same shas.
 */
import { nameCommit } from './commit-sha.ts'
import type { Commit } from './model.ts'
import { contributorIds, type RepoPlan } from './plan.ts'
import { createRandom, type Random } from './random.ts'

const subjects = [
  'Fix the parser',
  'Add a test',
  'Speed up the walk',
  'Say why',
  'Remove what nobody used',
  'Sort the rows',
] as const

/** Oldest first; the last one is the head. */
export function generateCommits(seed: number, plan: RepoPlan): Commit[] {
  const random = createRandom(seed, 'commits', plan.repoId)
  const made: Commit[] = []
  let main: string | undefined
  let side: { tip: string; left: number } | undefined
  for (let at = 0; at < plan.commits; at++) {
    const last = at === plan.commits - 1
    const seconds = Math.floor(((plan.pushedAt - plan.createdAt) / 1000 / plan.commits) * (at + 1))
    const committedAt = last ? plan.pushedAt : plan.createdAt + seconds * 1000
    const merge: boolean = side !== undefined && (last || side.left === 0)
    const onSide: boolean = !merge && side !== undefined && random.chance(0.5)
    const parents: string[] =
      merge && side ? [main ?? '', side.tip] : onSide && side ? [side.tip] : main === undefined ? [] : [main]
    const commit = nameCommit(draftCommit({ random, personId: plan.personId, ordinal: at, parents, committedAt }))
    made.push(commit)
    if (onSide && side) side = { tip: commit.sha, left: side.left - 1 }
    else {
      main = commit.sha
      if (merge) side = undefined
      // A branch starts with its first commit, which the next turns append; it needs room for that and for the merge.
      else if (side === undefined && plan.commits - at > 4 && random.chance(0.08)) {
        const branch = nameCommit(
          draftCommit({ random, personId: plan.personId, ordinal: ++at, parents: [commit.sha], committedAt: committedAt + 1000 }),
        )
        made.push(branch)
        side = { tip: branch.sha, left: random.whole(0, 3) }
      }
    }
  }
  return made
}

export interface Draft {
  readonly random: Random
  readonly personId: number
  readonly ordinal: number
  readonly parents: readonly string[]
  readonly committedAt: number
}

/** What a commit says, all but its name. Addresses hold ids, so that a renamed login changes no history. */
export function draftCommit({ random, personId, ordinal, parents, committedAt }: Draft): Omit<Commit, 'sha'> {
  const chance = random.next()
  const authorId = chance < 0.85 ? personId : chance < 0.95 ? random.pick(contributorIds) : null
  const isMerge = parents.length > 1
  return {
    parents,
    message: isMerge ? `Merge branch topic-${ordinal}` : `${random.pick(subjects)}, part ${ordinal}`,
    authorId,
    authorName: authorId === null ? 'Unlinked' : `Account ${authorId}`,
    authorEmail: authorEmail(authorId),
    authoredAt: committedAt - (random.chance(0.2) ? random.whole(60, 86_400) * 1000 : 0),
    committedAt,
    additions: isMerge ? 0 : random.whole(0, 120),
    deletions: isMerge ? 0 : random.whole(0, 60),
    changedFiles: isMerge ? 0 : random.whole(1, 8),
  }
}

const authorEmail = (authorId: number | null) => (authorId === null ? 'unlinked@example.com' : `account-${authorId}@example.com`)
