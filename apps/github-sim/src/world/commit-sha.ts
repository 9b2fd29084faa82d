/**
 * The name of a commit, exactly as git computes it: the hash of the commit object, which holds its parents. All commits of
 * the simulator have git's well-known empty tree, so every history is real git even though line counts are invented.
 */
import { createHash } from 'node:crypto'
import type { Commit } from './model.ts'

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export function commitText(commit: Omit<Commit, 'sha'>): string {
  const person = `${commit.authorName} <${commit.authorEmail}>`
  let text = `tree ${emptyTree}\n`
  for (const parent of commit.parents) text += `parent ${parent}\n`
  return `${text}author ${person} ${commit.authoredAt / 1000} +0000\ncommitter ${person} ${commit.committedAt / 1000} +0000\n\n${commit.message}\n`
}

/** Text of commits is plain ASCII, so its length in characters is its length in bytes. */
export function nameCommit(commit: Omit<Commit, 'sha'>): Commit {
  const text = commitText(commit)
  const sha = createHash('sha1').update(`commit ${text.length}\u0000${text}`).digest('hex')
  return { sha, ...commit }
}
