/**
 * Queries of the kind that a collector sends, with every field it may use: for the tests of this folder. They are written
 * here on their own, so that the simulator is judged by GitHub's schema and not by the client that it is there to judge.
 */
const actor =
  'login ... on User { databaseId } ... on Bot { databaseId } ... on Mannequin { databaseId } ... on Organization { databaseId }'
const owner = 'login ... on User { databaseId } ... on Organization { databaseId }'
const page = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'
const newest = 'orderBy: { field: UPDATED_AT, direction: DESC }) { totalCount nodes { updatedAt } }'

const repository = `id databaseId name nameWithOwner isFork isPrivate isArchived isEmpty isDisabled stargazerCount forkCount hasIssuesEnabled
  createdAt updatedAt pushedAt primaryLanguage { name } owner { ${owner} }
  defaultBranchRef { name target { oid ... on Commit { history { totalCount } } } }`

const commit = `oid message messageHeadline authoredDate committedDate additions deletions changedFilesIfAvailable
  author { name email user { databaseId login } } parents(first: 2) { totalCount nodes { oid } }`

const issue = `databaseId number title state createdAt updatedAt closedAt author { ${actor} } comments { totalCount }
  timelineItems(itemTypes: [CLOSED_EVENT], last: 1) { nodes { ... on ClosedEvent { createdAt actor { ${actor} } } } }`

const pullRequest = `databaseId number title state createdAt updatedAt closedAt mergedAt merged additions deletions changedFiles
  author { ${actor} } mergedBy { ${actor} } headRepositoryOwner { ${owner} } headRepository { databaseId nameWithOwner }
  baseRepository { databaseId nameWithOwner stargazerCount owner { ${owner} } }`

export const collectorQueries = {
  Profile: `query Profile($login: String!) {
    rateLimit { cost limit nodeCount remaining resetAt used }
    viewer { login databaseId id }
    user(login: $login) { login databaseId id name createdAt updatedAt followers { totalCount } }
  }`,
  Repositories: `query Repositories($user: ID!, $first: Int!, $after: String, $by: RepositoryOrderField!, $of: [RepositoryAffiliation]!) {
    rateLimit { cost }
    node(id: $user) { ... on User {
      pullRequests(first: 1, ${newest}
      repositories(first: $first, after: $after, ownerAffiliations: $of, orderBy: { field: $by, direction: DESC }) {
        totalCount ${page} nodes { ${repository} issues(first: 1, ${newest} pullRequests(first: 1, ${newest} }
      }
    } }
  }`,
  Commits: `query Commits($repo: ID!, $oid: GitObjectID!, $first: Int!, $after: String) {
    node(id: $repo) { ... on Repository { object(oid: $oid) { ... on Commit {
      history(first: $first, after: $after) { totalCount ${page} nodes { ${commit} } }
    } } } }
  }`,
  CommitsSince: `query CommitsSince($repo: ID!, $user: ID!, $first: Int!, $since: GitTimestamp) {
    node(id: $repo) { ... on Repository { defaultBranchRef { target { ... on Commit {
      history(first: $first, since: $since, until: "2099-01-01T00:00:00Z", author: { id: $user }) { totalCount nodes { oid } }
    } } } } }
  }`,
  Issues: `query Issues($repo: ID!, $first: Int!, $after: String, $since: DateTime) {
    node(id: $repo) { ... on Repository {
      issues(first: $first, after: $after, orderBy: { field: CREATED_AT, direction: ASC }, filterBy: { since: $since, states: [OPEN, CLOSED] }) {
        totalCount ${page} edges { cursor node { ${issue} } }
      }
    } }
  }`,
  PullRequests: `query PullRequests($repo: ID!, $first: Int!, $after: String) {
    nodes(ids: [$repo]) { ... on Repository {
      pullRequests(first: $first, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }, states: [OPEN, CLOSED, MERGED]) {
        totalCount ${page} nodes { ${pullRequest} }
      }
    } }
  }`,
  OwnPullRequests: `query OwnPullRequests($login: String!, $first: Int!, $after: String) {
    user(login: $login) {
      pullRequests(first: $first, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) { totalCount ${page} nodes { ${pullRequest} } }
    }
  }`,
  ByName: `query ByName($login: String!, $name: String!) {
    repository(owner: $login, name: $name, followRenames: true) { ${repository}
      head: object(expression: "HEAD") { oid } ref(qualifiedName: "refs/heads/main") { name target { oid } } }
  }`,
}
