/**
 * Fixtures for tests of what the collector keeps: an engine with its tables, a user with a live collection, and rows to store.
 */
import type { Engine } from '@sluice/engine'
import { generateMasterKey, KeyRing } from '@sluice/engine'
import { type Collection, createCollection } from '../../packages/collector/src/collection/collection.ts'
import type { CommitRow } from '../../packages/collector/src/commit/commit.ts'
import type { IssueRow } from '../../packages/collector/src/issue/issue.ts'
import { collectorMigrations } from '../../packages/collector/src/migrations.ts'
import type { PullRequestRow } from '../../packages/collector/src/pull-request/pull-request.ts'
import type { RepositoryRow } from '../../packages/collector/src/repository/repository.ts'
import { collectionRequested } from '../../packages/collector/src/request/request-event.ts'
import { insertUser } from '../../packages/collector/src/user/user.ts'
import { test as base } from './database.ts'

export interface CollectorScene {
  engine: Engine
  /** Registers a user without asking anybody, and opens its live collection. */
  addUser: (id: number, login?: string) => Promise<Collection>
}

/** Of users that nobody is asked about. */
export const nobodysApi = 'http://127.0.0.1:9'

export const test = base.extend<CollectorScene>({
  engine: async ({ engines }, use) => {
    const engine = engines({
      migrations: [collectorMigrations],
      events: [collectionRequested],
      secrets: KeyRing.fromText(generateMasterKey()),
    })
    await engine.migrate()
    await use(engine)
  },
  addUser: async ({ engine }, use) => {
    await use((id, login = `user-${id}`) =>
      engine.transaction(async (tx) => {
        const account = { id, nodeId: `U_${id}`, login, name: null, followers: 0, createdAt: null }
        await insertUser(tx, account, nobodysApi)
        return createCollection(tx, id, 'live', 'graphql')
      }),
    )
  },
})

export function repositoryRow(row: Partial<RepositoryRow> & { id: number }): RepositoryRow {
  return {
    nodeId: `R_${row.id}`,
    ownerId: 1,
    ownerLogin: 'user-1',
    name: `repository-${row.id}`,
    fork: false,
    private: false,
    archived: false,
    stars: 0,
    language: null,
    defaultBranch: 'main',
    head: 'a'.repeat(40),
    hasIssues: true,
    hasPullRequests: true,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
    pushedAt: '2026-01-02T00:00:00Z',
    newestIssueAt: null,
    newestPullAt: null,
    state: 'active',
    ...row,
  }
}

export function commitRow(row: Partial<CommitRow> & { sha: string }): CommitRow {
  return {
    authorId: 1,
    authoredAt: '2026-01-01T12:00:00Z',
    committedAt: '2026-01-01T12:00:00Z',
    additions: 10,
    deletions: 5,
    changedFiles: 1,
    message: 'Change something',
    ...row,
  }
}

export function issueRow(row: Partial<IssueRow> & { number: number }): IssueRow {
  return {
    id: 1_000 + row.number,
    title: 'Something is wrong',
    state: 'open',
    authorId: 2,
    comments: 0,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
    closedAt: null,
    closedById: null,
    isPullRequest: false,
    ...row,
  }
}

export function pullRequestRow(row: Partial<PullRequestRow> & { number: number }): PullRequestRow {
  return {
    repositoryId: 900,
    id: 2_000 + row.number,
    title: 'Mend it',
    state: 'closed',
    authorId: 1,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
    closedAt: '2026-01-02T00:00:00Z',
    mergedAt: '2026-01-02T00:00:00Z',
    mergedById: 2,
    baseName: 'other/thing',
    baseOwnerId: 2,
    baseStars: 9,
    headOwnerId: 1,
    additions: 3,
    deletions: 1,
    changedFiles: 1,
    ...row,
  }
}
