/**
 * Commits and the history below them. Line counts are what makes a query heavy: GitHub diffs every commit for them, so each
 * commit is charged to the compute budget of the query, once.
 */
import type { GraphQLResolveInfo } from 'graphql'
import type { Commit } from '../world/model.ts'
import { packNodeId } from '../world/node-id.ts'
import { accountOf } from './access.ts'
import { type PageArguments, pageByPlace } from './connection.ts'
import type { CommitThing, Context } from './context.ts'

interface HistoryArguments extends PageArguments {
  readonly since?: number | null
  readonly until?: number | null
  readonly author?: { readonly id?: string | null; readonly emails?: readonly string[] | null } | null
}

/** Places count from the commit on which the history is asked, so a walk that wants to stand still names that commit. */
function pageHistory({ repo, commit }: CommitThing, args: HistoryArguments, context: Context, info: GraphQLResolveInfo) {
  const { since, until, author } = args
  const reachable = context.world.commits(repo.id, commit.sha)
  const rows =
    since || until || author
      ? reachable.filter(
          (one) =>
            (!since || one.committedAt >= since) &&
            (!until || one.committedAt <= until) &&
            (!author || isBy(one, author, context)),
        )
      : reachable
  return pageByPlace(rows, commit.sha, args, (one: Commit): CommitThing => ({ kind: 'Commit', repo, commit: one }), info, context)
}

function isBy(commit: Commit, { id, emails }: NonNullable<HistoryArguments['author']>, { world }: Context): boolean {
  if (id) {
    const found = world.byNodeId(id)
    return found?.type === 'account' && found.account.id === commit.authorId
  }
  return emails?.includes(commit.authorEmail) ?? true
}

function pageParents({ repo, commit }: CommitThing, args: PageArguments, context: Context, info: GraphQLResolveInfo) {
  const parents = commit.parents.map((sha) => context.world.commit(repo.id, sha)).filter((parent) => parent !== undefined)
  return pageByPlace(
    parents,
    commit.sha,
    args,
    (one: Commit): CommitThing => ({ kind: 'Commit', repo, commit: one }),
    info,
    context,
  )
}

const counted =
  (count: (commit: Commit) => number) =>
  ({ commit }: CommitThing, _: unknown, { diff }: Context) => {
    diff(commit.sha)
    return count(commit)
  }

const webPath = ({ repo, commit }: CommitThing, { world }: Context) =>
  `/${world.accounts.get(repo.ownerId)?.login}/${repo.name}/commit/${commit.sha}`

const actor =
  (time: 'authoredAt' | 'committedAt') =>
  ({ commit }: CommitThing, _: unknown, context: Context) => ({
    name: commit.authorName,
    email: commit.authorEmail,
    date: commit[time],
    avatarUrl: 'https://avatars.githubusercontent.com/u/0?v=4',
    user: accountOf(context, commit.authorId),
  })

const headline = ({ commit }: CommitThing) => commit.message.split('\n', 1)[0] ?? ''

export const commitFields = {
  Commit: {
    id: ({ repo, commit }: CommitThing) => packNodeId({ kind: 'C', id: repo.id, part: commit.sha }),
    oid: ({ commit }: CommitThing) => commit.sha,
    abbreviatedOid: ({ commit }: CommitThing) => commit.sha.slice(0, 7),
    repository: ({ repo }: CommitThing) => ({ kind: 'Repository', repo }),
    url: (thing: CommitThing, _: unknown, context: Context) => `https://github.com${webPath(thing, context)}`,
    commitUrl: (thing: CommitThing, _: unknown, context: Context) => `https://github.com${webPath(thing, context)}`,
    resourcePath: (thing: CommitThing, _: unknown, context: Context) => webPath(thing, context),
    commitResourcePath: (thing: CommitThing, _: unknown, context: Context) => webPath(thing, context),
    message: ({ commit }: CommitThing) => commit.message,
    messageHeadline: headline,
    messageBody: (thing: CommitThing) => thing.commit.message.slice(headline(thing).length).trim(),
    authoredDate: ({ commit }: CommitThing) => commit.authoredAt,
    committedDate: ({ commit }: CommitThing) => commit.committedAt,
    additions: counted((commit) => commit.additions),
    deletions: counted((commit) => commit.deletions),
    changedFiles: counted((commit) => commit.changedFiles),
    changedFilesIfAvailable: counted((commit) => commit.changedFiles),
    author: actor('authoredAt'),
    committer: actor('committedAt'),
    authoredByCommitter: () => true,
    committedViaWeb: () => false,
    parents: pageParents,
    history: pageHistory,
  },
}
