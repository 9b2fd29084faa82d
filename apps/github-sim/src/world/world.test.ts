import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitText } from './commit-sha.ts'
import { packNodeId, unpackNodeId } from './node-id.ts'
import { World } from './world.ts'

const start = Date.UTC(2026, 0, 1)
const plan = {
  login: 'ada',
  repositories: 7,
  commits: 500,
  issues: 90,
  pullRequests: 40,
  ownPullRequestsElsewhere: 23,
  events: 12,
}
const build = (seed = 1, people = [plan]) => new World({ seed, people, start })

describe('world', () => {
  test('[G-07] what is generated sums up to the plan', () => {
    const truth = build().groundTruth('ada')!
    const count = (lists: Readonly<Record<number, readonly unknown[]>>) =>
      Object.values(lists).reduce((all, list) => all + list.length, 0)
    expect(truth.repositories).toHaveLength(7)
    expect(count(truth.commits)).toBe(500)
    expect(count(truth.issues)).toBe(90)
    expect(count(truth.pulls)).toBe(40)
    const ownHome = Object.values(truth.pulls)
      .flat()
      .filter((pull) => pull.authorId === truth.profile.id).length
    expect(truth.ownPulls).toHaveLength(ownHome + 23)
  })

  test('[G-07] the same seed gives the same world, another seed another', () => {
    expect(JSON.stringify(build().groundTruth('ada'))).toBe(JSON.stringify(build().groundTruth('ada')))
    expect(build(2).groundTruth('ada')!.repositories[0]!.head).not.toBe(build().groundTruth('ada')!.repositories[0]!.head)
  })

  test('[G-07] histories are real: git computes the same names, and lists them in the same order', () => {
    const world = build(3, [{ ...plan, repositories: 1, commits: 120 }])
    const repo = [...world.repos.values()][0]!
    const folder = mkdtempSync(join(tmpdir(), 'sim-git-'))
    const git = (args: string[], input?: string) => execFileSync('git', args, { cwd: folder, input, encoding: 'utf8' }).trim()
    try {
      git(['init', '-q', '.'])
      git(['hash-object', '-t', 'tree', '-w', '--stdin'], '')
      for (const commit of world.commits(repo.id).toReversed())
        expect(git(['hash-object', '-t', 'commit', '-w', '--stdin'], commitText(commit))).toBe(commit.sha)
      const log = git(['log', '--format=%H', repo.head!]).split('\n')
      expect(world.commits(repo.id).map(({ sha }) => sha)).toEqual(log)
      expect(world.commits(repo.id).some(({ parents }) => parents.length === 2)).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('[G-07] a hundred thousand commits are listed in seconds, and the second time at once', () => {
    const world = build(1, [{ ...plan, repositories: 1, commits: 100_000 }])
    const repo = [...world.repos.values()][0]!
    const first = world.commits(repo.id)
    expect(first).toHaveLength(100_000)
    expect(world.commits(repo.id)).toBe(first)
    expect(world.reachable(repo.id, repo.head!).size).toBe(100_000)
  })

  test('[G-07] node ids find what they name', () => {
    const world = build()
    const repo = [...world.repos.values()].find(({ id }) => world.issues(id).length > 0 && world.pulls(id).length > 0)!
    const issue = world.issues(repo.id)[0]!
    const pull = world.pulls(repo.id)[0]!
    expect(world.byNodeId(repo.nodeId)).toMatchObject({ repo: { id: repo.id } })
    expect(world.byNodeId(issue.nodeId)).toMatchObject({ issue: { id: issue.id } })
    expect(world.byNodeId(pull.nodeId)).toMatchObject({ pull: { id: pull.id } })
    expect(world.byNodeId(world.byLogin('ADA')!.nodeId)).toMatchObject({ account: { login: 'ada' } })
    const commitId = packNodeId({ kind: 'C', id: repo.id, part: repo.head! })
    expect(commitId).toMatch(/^C_kwDO/)
    expect(world.byNodeId(commitId)).toMatchObject({ commit: { sha: repo.head } })
    expect(world.byNodeId('R_nonsense')).toBeUndefined()
    expect(unpackNodeId('R_kgDOAAGGoQ')).toEqual({ kind: 'R', id: 100_001 })
  })

  test('[G-07] a name that was taken again no longer leads to the repository that had it', () => {
    const { directory } = build()
    const [first, second] = [...directory.repos.values()]
    const old = first!.name
    directory.moveRepo(first!, first!.ownerId, 'renamed')
    expect(directory.byName('ada', old)).toEqual({ movedTo: first })
    directory.moveRepo(second!, second!.ownerId, old)
    expect(directory.byName('ada', old)).toBe(second)
  })

  test('[G-07] a former login leads to the repositories but not to the account', () => {
    const { directory } = build()
    const ada = directory.byLogin('ada')!
    const repo = directory.reposOf(ada.id, ['OWNER'])[0]!
    directory.renameLogin(ada, 'ada-two')
    expect(directory.byLogin('ada')).toBeUndefined()
    expect(directory.byName('ada', repo.name)).toEqual({ movedTo: repo })
    expect(directory.byName('ada-two', repo.name)).toBe(repo)
  })
})
