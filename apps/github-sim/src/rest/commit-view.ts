/** How commits look over REST: without line counts in lists, with them and with files alone. */
import { createHash } from 'node:crypto'
import { emptyTree } from '../world/commit-sha.ts'
import type { Commit, Repo } from '../world/model.ts'
import { packNodeId } from '../world/node-id.ts'
import type { World } from '../world/world.ts'
import { simpleUserById, type View } from './account-view.ts'
import { iso } from './ask.ts'
import { fullName } from './repo-view.ts'

export function commitView(world: World, repo: Repo, commit: Commit, base: string): View {
  const name = fullName(world, repo)
  const url = `${base}/repos/${name}/commits/${commit.sha}`
  const html = `https://github.com/${name}/commit/`
  const person = simpleUserById(world, commit.authorId, base)
  const signature = (at: number) => ({ name: commit.authorName, email: commit.authorEmail, date: iso(at) })
  return {
    sha: commit.sha,
    node_id: packNodeId({ kind: 'C', id: repo.id, part: commit.sha }),
    commit: {
      author: signature(commit.authoredAt),
      committer: signature(commit.committedAt),
      message: commit.message,
      tree: { sha: emptyTree, url: `${base}/repos/${name}/git/trees/${emptyTree}` },
      url: `${base}/repos/${name}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    url,
    html_url: `${html}${commit.sha}`,
    comments_url: `${url}/comments`,
    author: person,
    committer: person,
    parents: commit.parents.map((sha) => ({ sha, url: `${base}/repos/${name}/commits/${sha}`, html_url: `${html}${sha}` })),
  }
}

export function fullCommitView(world: World, repo: Repo, commit: Commit, base: string): View {
  const { additions, deletions } = commit
  return {
    ...commitView(world, repo, commit, base),
    stats: { total: additions + deletions, additions, deletions },
    files: filesOf(world, repo, commit, base),
  }
}

/** Invented files whose line counts sum up to the commit's. */
export function filesOf(world: World, repo: Repo, commit: Commit, base: string): View[] {
  const name = fullName(world, repo)
  const share = (total: number, at: number) =>
    Math.floor((total * (at + 1)) / commit.changedFiles) - Math.floor((total * at) / commit.changedFiles)
  return Array.from({ length: commit.changedFiles }, (_, at) => {
    const filename = `src/part-${at + 1}.ts`
    const additions = share(commit.additions, at)
    const deletions = share(commit.deletions, at)
    return {
      sha: createHash('sha1').update(`${commit.sha} ${at}`).digest('hex'),
      filename,
      status: 'modified',
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `https://github.com/${name}/blob/${commit.sha}/${filename}`,
      raw_url: `https://github.com/${name}/raw/${commit.sha}/${filename}`,
      contents_url: `${base}/repos/${name}/contents/${filename}?ref=${commit.sha}`,
    }
  })
}
