/** Exports of stored rows, page by page, and the views for tools that speak SQL. */
import type { Engine } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { commitRow, issueRow, pullRequestRow, repositoryRow, test } from '../../../../test/support/collector-scene.ts'
import { createCollection } from '../collection/collection.ts'
import { storeCommits } from '../commit/commit.ts'
import { storeEvents } from '../event/event.ts'
import { storeIssues } from '../issue/issue.ts'
import { storePullRequests } from '../pull-request/pull-request.ts'
import { storeRepositories } from '../repository/repository.ts'
import { Statistics } from '../statistics/statistics.ts'
import { type ExportWish, exportLines } from './export-lines.ts'
import { exportable, sources } from './sources.ts'

async function read(engine: Engine, wish: Partial<ExportWish>): Promise<string[]> {
  const pieces: string[] = []
  for await (const piece of exportLines(engine, { userId: 1, what: 'commits', format: 'jsonl', ...wish })) pieces.push(piece)
  return pieces
}

async function fill(engine: Engine, collection: number): Promise<void> {
  await engine.transaction(async (tx) => {
    await storeRepositories(tx, collection, [repositoryRow({ id: 10, name: '=evil()' })], 1)
    await storeCommits(
      tx,
      collection,
      10,
      [commitRow({ sha: 'a', message: 'One, "two"' }), commitRow({ sha: 'b', additions: null })],
      1,
    )
    await storeIssues(tx, collection, 10, [issueRow({ number: 1 }), issueRow({ number: 2, isPullRequest: true })])
    await storePullRequests(tx, collection, [pullRequestRow({ number: 1 })])
    await storeEvents(tx, collection, [
      { id: '5', type: 'PushEvent', repositoryId: 10, createdAt: '2026-01-01T00:00:00Z', payload: { push_id: 1 } },
    ])
    await new Statistics(engine).compute(tx, 1, 1)
  })
}

describe('[C-15] an export', () => {
  test('[C-15] goes through pages over two keys without losing or doubling a row, one page in memory', async ({
    engine,
    addUser,
  }) => {
    const { id } = await addUser(1)
    const shas = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => commitRow({ sha: String(from + at).padStart(6, '0') }))
    await engine.transaction(async (tx) => {
      await storeCommits(tx, id, 10, shas(0, 1_400), 1)
      await storeCommits(tx, id, 11, shas(0, 601), 1)
      await storeCommits(tx, id, 9, shas(0, 999), 1)
    })
    const pieces = await read(engine, {})
    expect(pieces.map((piece) => piece.trimEnd().split('\n').length)).toEqual([1_000, 1_000, 1_000])
    const rows = pieces.flatMap((piece) => piece.trimEnd().split('\n')).map((line) => JSON.parse(line))
    const keys = rows.map(({ repository_id, sha }) => `${repository_id} ${sha}`)
    expect(new Set(keys).size).toBe(3_000)
    expect(rows[0]).toMatchObject({ repository_id: 9, sha: '000000', authored_at: '2026-01-01T12:00:00.000Z', additions: 10 })
  })

  test.for([...exportable])('[C-15] %s come in both formats with the same columns', async (what, { engine, addUser }) => {
    const { id } = await addUser(1)
    await fill(engine, id)
    const lines = (await read(engine, { what })).join('').trimEnd().split('\n')
    const csv = (await read(engine, { what, format: 'csv' })).join('')
    const names = sources[what].columns.map(({ name }) => name)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(Object.keys(JSON.parse(line))).toEqual(names)
    expect(csv.split('\r\n')[0]).toBe(names.join(','))
    expect(csv.trimEnd().split('\r\n')).toHaveLength(lines.length + 1)
  })

  test('[C-15] what strangers wrote cannot run in a spreadsheet', async ({ engine, addUser }) => {
    const { id } = await addUser(1)
    await fill(engine, id)
    expect((await read(engine, { what: 'repositories', format: 'csv' })).join('')).toContain(",'=evil(),")
  })

  test('[C-13] a shadow is exported when it is named, and only to its user', async ({ engine, addUser }) => {
    await addUser(1)
    await addUser(2)
    const shadow = await engine.transaction((tx) => createCollection(tx, 1, 'shadow', 'rest'))
    await engine.transaction((tx) => storeCommits(tx, shadow.id, 10, [commitRow({ sha: 'a' })], 1))
    expect(await read(engine, {})).toEqual([])
    expect(await read(engine, { collection: shadow.id })).toHaveLength(1)
    await expect(read(engine, { userId: 2, collection: shadow.id })).rejects.toMatchObject({ code: 'COLLECTION_UNKNOWN' })
  })

  test('[C-15] of nobody, of nothing and in no format is refused', async ({ engine, addUser }) => {
    await addUser(1)
    await expect(read(engine, { userId: 5 })).rejects.toMatchObject({ code: 'USER_UNKNOWN' })
    await expect(read(engine, { what: 'secrets' as never })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(read(engine, { format: 'xml' as never })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })
})

describe('[C-15] the flat views', () => {
  test('[C-15] have typed columns, no JSON, and show the live collection alone', async ({ engine, client, addUser }) => {
    const { id } = await addUser(1)
    await fill(engine, id)
    const shadow = await engine.transaction((tx) => createCollection(tx, 1, 'shadow', 'rest'))
    await engine.transaction((tx) => storeCommits(tx, shadow.id, 10, [commitRow({ sha: 'shadow' })], 1))
    const { rows: types } = await client.query(
      `select table_name, data_type from information_schema.columns where table_schema = 'collector' and table_name like '%\\_flat'`,
    )
    const views = [...new Set(types.map(({ table_name }) => table_name))].toSorted((a, b) => a.localeCompare(b))
    expect(views).toEqual(
      ['commits', 'events', 'issues', 'pull_requests', 'repositories', 'statistics', 'users'].map((name) => `${name}_flat`),
    )
    expect(types.filter(({ data_type }) => /json|ARRAY|USER/.test(data_type))).toEqual([])
    const counts: Record<string, number> = {}
    for (const view of views)
      counts[view] = (await client.query(`select from collector.${view} where login = 'user-1'`)).rows.length
    expect(counts).toEqual({
      commits_flat: 2,
      events_flat: 1,
      issues_flat: 1,
      pull_requests_flat: 1,
      repositories_flat: 1,
      statistics_flat: 1,
      users_flat: 1,
    })
    const { rows } = await client.query('select full_name, own from collector.commits_flat')
    expect(rows).toEqual([1, 2].map(() => ({ full_name: 'user-1/=evil()', own: true })))
    expect((await client.query('select counts from collector.pull_requests_flat')).rows).toEqual([{ counts: true }])
  })
})
