/** Statistics from stored rows: only the user's own deeds count, results can be made again, and pages hold still. */
import type { Engine } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { commitRow, issueRow, pullRequestRow, repositoryRow, test } from '../../../../test/support/collector-scene.ts'
import { markGone, storeCommits } from '../commit/commit.ts'
import { storeIssues } from '../issue/issue.ts'
import { storePullRequests } from '../pull-request/pull-request.ts'
import { storeRepositories } from '../repository/repository.ts'
import { formulaVersion, score } from './score.ts'
import { Statistics } from './statistics.ts'

const compute = (engine: Engine, user: number, run: number) =>
  engine.transaction((tx) => new Statistics(engine).compute(tx, user, run))

describe('[C-12] a user', () => {
  test('[C-12] only commits, closings and merges by the own id count', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    await engine.transaction(async (tx) => {
      await storeRepositories(tx, id, [repositoryRow({ id: 10 }), repositoryRow({ id: 11, state: 'deleted' })], 1)
      await storeCommits(tx, id, 10, [commitRow({ sha: 'gone' })], 1)
      await markGone(tx, id, 10, 2)
      const rows = [
        commitRow({ sha: 'a', authoredAt: '2026-01-01T23:59:00Z', additions: 10, deletions: 5 }),
        commitRow({ sha: 'b', authoredAt: '2026-01-02T00:00:00Z', additions: 900, deletions: 200 }),
        commitRow({ sha: 'c', authoredAt: '2026-01-05T01:00:00+09:00', additions: null, deletions: null }),
        commitRow({ sha: 'others', authorId: 2 }),
        commitRow({ sha: 'nobody', authorId: null }),
      ]
      await storeCommits(tx, id, 10, rows, 2)
      await storeCommits(
        tx,
        id,
        11,
        [commitRow({ sha: 'a', authoredAt: '2026-01-01T23:59:00Z', additions: null, deletions: null })],
        2,
      )
      await storeIssues(tx, id, 10, [
        issueRow({ number: 1, state: 'closed', closedAt: '2026-01-02T00:00:00Z', closedById: 1 }),
        issueRow({ number: 2, state: 'closed', closedAt: '2026-01-02T00:00:00Z', closedById: 2 }),
        issueRow({ number: 3, state: 'closed', closedAt: '2026-01-02T00:00:00Z', closedById: 1, isPullRequest: true }),
        issueRow({ number: 4, state: 'open', closedById: 1 }),
      ])
      await storePullRequests(tx, id, [
        pullRequestRow({ number: 1, baseStars: 9 }),
        pullRequestRow({ number: 2, baseStars: null }),
        pullRequestRow({ number: 3, baseOwnerId: 1 }),
        pullRequestRow({ number: 4, mergedAt: null }),
        pullRequestRow({ number: 5, authorId: 2 }),
        pullRequestRow({ number: 6, baseOwnerId: null }),
      ])
    })
    const made = await compute(engine, 1, 7)
    expect(made).toMatchObject({ userId: 1, login: 'user-1', run: 7, formula: formulaVersion, repositories: 1 })
    expect(made).toMatchObject({ commits: 3, additions: 910, deletions: 205, countedLines: 15 + 500 })
    // in UTC: 1, 2 and 4 January
    expect(made).toMatchObject({ activeDays: 3, longestStreak: 2, currentStreak: 0 })
    expect(made).toMatchObject({ issuesSolved: 1, pullRequests: 2, pullRequestWeight: 3 })
    const mergedByStars = [
      { stars: 0, count: 1 },
      { stars: 9, count: 1 },
    ]
    expect(made).toMatchObject(score({ ...made, mergedByStars }))
  })

  test('[C-12] what was done in a repository that is deleted or left still counts', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    await engine.transaction(async (tx) => {
      const states = ['deleted', 'left'] as const
      await storeRepositories(
        tx,
        id,
        states.map((state, at) => repositoryRow({ id: at, state })),
        1,
      )
      for (const at of [0, 1]) await storeCommits(tx, id, at, [commitRow({ sha: `in-${at}` })], 1)
    })
    expect(await compute(engine, 1, 1)).toMatchObject({ repositories: 0, commits: 2 })
  })

  test('[C-12] a shadow counts for nothing', async ({ engine, addUser }) => {
    await addUser(1)
    const { rows } = await engine.transaction(async (tx) => {
      const made = await tx.query(
        "insert into collector.collection (user_id, purpose, strategy) values (1, 'shadow', 'rest') returning id",
        [],
      )
      return made as { rows: { id: number }[] }
    })
    await engine.transaction((tx) => storeCommits(tx, Number(rows[0]?.id), 10, [commitRow({ sha: 'a' })], 1))
    expect(await compute(engine, 1, 1)).toMatchObject({ commits: 0, score: 0 })
  })

  test('[C-11] a second time for the same run replaces the first, and older runs stay as history', async ({
    engine,
    addUser,
  }) => {
    const { id } = await addUser(1)
    const statistics = new Statistics(engine)
    await compute(engine, 1, 1)
    await engine.transaction((tx) => storeCommits(tx, id, 10, [commitRow({ sha: 'a' })], 1))
    await compute(engine, 1, 2)
    const first = await statistics.user(1)
    const again = await compute(engine, 1, 2)
    expect({ ...again, computedAt: 0 }).toEqual({ ...first, computedAt: 0 })
    const { items, next } = await statistics.history(1, { limit: 1 })
    expect(items).toEqual([again])
    const older = await statistics.history(1, { cursor: next })
    expect(older).toMatchObject({ items: [{ run: 1, commits: 0 }], next: undefined })
  })

  test('[C-12] unknown users have none', async ({ engine }) => {
    expect(await new Statistics(engine).user(5)).toBeUndefined()
    await expect(compute(engine, 5, 1)).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
  })
})

describe('[C-11] the whole', () => {
  test('[C-11] is the sum of the newest statistics, with mean and median', async ({ engine, addUser }) => {
    const statistics = new Statistics(engine)
    expect(await statistics.global()).toBeUndefined()
    const empty = await engine.transaction((tx) => statistics.computeGlobal(tx, 1))
    expect(empty).toMatchObject({ users: 0, commits: 0, meanScore: 0, medianScore: 0 })
    for (const [user, commits] of [
      [1, 3],
      [2, 1],
      [3, 0],
    ] as const) {
      const { id } = await addUser(user)
      const rows = Array.from({ length: commits }, (_, at) => commitRow({ sha: `${user}-${at}`, authorId: user }))
      await engine.transaction((tx) => storeCommits(tx, id, 10, rows, 1))
      await compute(engine, user, user)
      await compute(engine, user, user + 10)
    }
    const made = await engine.transaction((tx) => statistics.computeGlobal(tx, 20))
    const scores = await Promise.all([1, 2, 3].map(async (user) => (await statistics.user(user))?.score ?? 0))
    expect(made).toMatchObject({ run: 20, users: 3, commits: 4, additions: 40, deletions: 20, medianScore: scores[1] })
    expect(made.meanScore).toBeCloseTo(scores.reduce((sum, one) => sum + one, 0) / 3, 9)
    expect(await statistics.global()).toEqual(made)
    const page = await statistics.globalHistory({ limit: 1 })
    expect((await statistics.globalHistory({ cursor: page.next })).items).toEqual([empty])
  })
})

describe('[C-12] the leaderboard', () => {
  test('[C-12] goes on behind the last one of a page, equals by id, while others move', async ({ engine, addUser }) => {
    const statistics = new Statistics(engine)
    const commitsOf = { 1: 1, 2: 5, 3: 5, 4: 9, 5: 2 }
    for (const [user, commits] of Object.entries(commitsOf)) {
      const { id } = await addUser(Number(user))
      const rows = Array.from({ length: commits }, (_, at) => commitRow({ sha: `${user}-${at}`, authorId: Number(user) }))
      await engine.transaction((tx) => storeCommits(tx, id, 10, rows, 1))
      await compute(engine, Number(user), Number(user))
    }
    const first = await statistics.leaderboard({ page: { limit: 2 } })
    expect(first.items.map(({ rank, userId }) => [rank, userId])).toEqual([
      [1, 4],
      [2, 2],
    ])
    // the last one takes the lead between the two pages
    await engine.transaction(async (tx) => tx.query('update collector.user_statistics set score = 1e6 where user_id = 1', []))
    const second = await statistics.leaderboard({ page: { cursor: first.next } })
    expect(second.items.map(({ rank, userId }) => [rank, userId])).toEqual([
      [3, 3],
      [4, 5],
    ])
    expect(second.next).toBeUndefined()
    expect((await statistics.leaderboard({ by: 'activity' })).items.map(({ userId }) => userId)).toEqual([4, 2, 3, 5, 1])
    await expect(statistics.leaderboard({ by: 'impact', page: { cursor: first.next } })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    })
    await expect(statistics.leaderboard({ by: 'luck' as never })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })
})
