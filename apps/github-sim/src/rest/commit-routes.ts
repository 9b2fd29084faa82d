/** Commits of a repository: the list, one alone, and what lies between two. */
import type { Commit, Repo } from '../world/model.ts'
import { type Ask, ok, type Reply, timeIn } from './ask.ts'
import { commitView, filesOf, fullCommitView } from './commit-view.ts'
import { cutPage, linkHeader, readPage } from './page.ts'
import * as problems from './problems.ts'
import type { Reached } from './reach-repo.ts'
import { fullName } from './repo-view.ts'

const compareMax = 250
const filesMax = 300
const listPage = 'rest/commits/commits#list-commits'
const comparePage = 'rest/commits/commits#compare-two-commits'

/** Times are the committer's, as in git; so a commit that was merged late appears below newer ones. */
export function listCommits(ask: Ask, { repo, address }: Reached): Reply {
  if (repo.head === null) return problems.emptyRepository()
  const from = ask.query.get('sha')
  const start = from === null || from === '' ? repo.head : resolve(ask, repo, from)?.sha
  if (start === undefined) return problems.notFound(listPage)
  const since = timeIn(ask.query, 'since')
  const until = timeIn(ask.query, 'until')
  const author = ask.query.get('author')
  const all = ask.world.commits(repo.id, start)
  const isBy = authorFilter(ask, author)
  const wanted =
    since === undefined && until === undefined && !isBy
      ? all
      : all.filter(
          (commit) =>
            (since === undefined || commit.committedAt >= since) &&
            (until === undefined || commit.committedAt <= until) &&
            (!isBy || isBy(commit)),
        )
  const page = readPage(ask.query)
  const body = cutPage(wanted, page).map((commit) => commitView(ask.world, repo, commit, ask.base))
  return ok(body, { headers: linkHeader(address, ask.query, page, wanted.length) })
}

/** By login, or by e-mail address if there is an @ in it. */
function authorFilter(ask: Ask, author: string | null): ((commit: Commit) => boolean) | undefined {
  if (author === null || author === '') return undefined
  if (author.includes('@')) return (commit) => commit.authorEmail.toLowerCase() === author.toLowerCase()
  const id = ask.world.byLogin(author)?.id
  return (commit) => id !== undefined && commit.authorId === id
}

export function oneCommit(ask: Ask, { repo }: Reached, ref: string): Reply {
  if (repo.head === null) return problems.emptyRepository()
  const commit = resolve(ask, repo, ref)
  if (!commit) return problems.noCommit(ref)
  return ok(fullCommitView(ask.world, repo, commit, ask.base), { lastModified: commit.committedAt })
}

/** A branch, a full sha, or the beginning of one. */
function resolve(ask: Ask, repo: Repo, ref: string): Commit | undefined {
  const branch = ref.replace(/^(?:refs\/)?heads\//, '')
  if (branch === repo.defaultBranch || branch === 'HEAD')
    return repo.head === null ? undefined : ask.world.commit(repo.id, repo.head)
  if (/^[0-9a-f]{40}$/i.test(ref)) return ask.world.commit(repo.id, ref.toLowerCase())
  if (!/^[0-9a-f]{7,39}$/i.test(ref)) return undefined
  const found = [...ask.world.shas(repo.id)].filter((sha) => sha.startsWith(ref.toLowerCase()))
  return found.length === 1 ? ask.world.commit(repo.id, found[0] ?? '') : undefined
}

/** What was pushed away by force can no longer be compared, so a reader learns that its last head is gone. */
export function compare(ask: Ask, { repo, address }: Reached, basehead: string): Reply {
  const [baseRef = '', headRef = ''] = basehead.split('...')
  const base = resolve(ask, repo, baseRef)
  const head = resolve(ask, repo, headRef)
  if (!base || !head || repo.head === null) return problems.notFound(comparePage)
  const alive = ask.world.reachable(repo.id, repo.head)
  if (!alive.has(base.sha) || !alive.has(head.sha)) return problems.notFound(comparePage)
  const inBase = ask.world.reachable(repo.id, base.sha)
  const inHead = ask.world.reachable(repo.id, head.sha)
  const ahead = ask.world
    .commits(repo.id, head.sha)
    .filter(({ sha }) => !inBase.has(sha))
    .toReversed()
  const behindBy = ask.world.commits(repo.id, base.sha).filter(({ sha }) => !inHead.has(sha)).length
  const mergeBase = ask.world.commits(repo.id, base.sha).find(({ sha }) => inHead.has(sha))
  if (!mergeBase) return problems.notFound(comparePage)
  const paged = ask.query.has('page') || ask.query.has('per_page')
  const page = readPage(ask.query)
  const shown = paged ? cutPage(ahead, page) : ahead.slice(0, compareMax)
  const name = fullName(ask.world, repo)
  const html = `https://github.com/${name}/compare/${baseRef}...${headRef}`
  const view = (commit: Commit) => commitView(ask.world, repo, commit, ask.base)
  const body = {
    url: `${ask.base}/repos/${name}/compare/${baseRef}...${headRef}`,
    html_url: html,
    permalink_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    base_commit: view(base),
    merge_base_commit: view(mergeBase),
    status: ahead.length > 0 ? (behindBy > 0 ? 'diverged' : 'ahead') : behindBy > 0 ? 'behind' : 'identical',
    ahead_by: ahead.length,
    behind_by: behindBy,
    total_commits: ahead.length,
    commits: shown.map(view),
    ...(page.page === 1
      ? { files: shown.flatMap((commit) => filesOf(ask.world, repo, commit, ask.base)).slice(0, filesMax) }
      : {}),
  }
  return ok(body, { headers: paged ? linkHeader(address, ask.query, page, ahead.length) : {} })
}
