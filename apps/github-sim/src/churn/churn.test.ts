import { describe, expect, test } from 'vitest'
import { SimClock } from '../clock/clock.ts'
import { ada } from '../testing/open-sim.ts'
import { World } from '../world/world.ts'
import { Churn } from './churn.ts'

const id = 100_001
const start = new Date('2026-06-01T12:00:00Z')
function begin(seed = 1, plan: Partial<typeof ada> = {}) {
  const clock = new SimClock(start, () => 0)
  const world = new World({ seed, people: [{ ...ada, ...plan }], start: clock.now() })
  return { world, clock, churn: new Churn(world, clock), repo: world.repos.get(id)! }
}
const shas = (world: World) => world.commits(id).map(({ sha }) => sha)

describe('churn', () => {
  test('[G-07] pushed commits are on top and move the times', () => {
    const { world, churn, repo, clock } = begin()
    const before = shas(world)
    clock.advance(5000)
    const { added, dropped, head } = churn.push(id, 3)
    expect(shas(world)).toEqual([...added.toReversed(), ...before])
    expect(dropped).toEqual([])
    expect(repo).toMatchObject({ head, pushedAt: start.getTime() + 5000 })
    expect(world.events(1001)[0]).toMatchObject({ type: 'PushEvent', repoId: id, payload: { head } })
  })

  test('[G-07] a late merge brings commits that lie below what was there', () => {
    const { world, churn } = begin(1, { repositories: 1 })
    const before = shas(world)
    const { added } = churn.lateMerge(id, 2, 200)
    const after = shas(world)
    expect(after).toHaveLength(before.length + 3)
    expect(after.indexOf(added[0]!)).toBeGreaterThan(1)
    expect(world.commit(id, added[0]!)!.committedAt).toBeLessThan(start.getTime() - 199 * 86_400_000)
    expect(after[0]).toBe(added[2])
  })

  test('[G-07] a force push takes away what nothing leads to any more', () => {
    const { world, churn } = begin()
    churn.push(id, 5)
    const before = shas(world)
    const { added, dropped } = churn.forcePush(id, 2, 1)
    expect(dropped.toSorted()).toEqual(before.slice(0, 2).toSorted())
    expect(shas(world)).toEqual([added[0], ...before.slice(2)])
  })

  test('[G-07] an emptied repository stays empty until somebody pushes', () => {
    const { world, churn, repo } = begin()
    churn.emptyRepo(id)
    expect([repo.head, world.commits(id).length, world.groundTruth('ada')!.repositories[0]!.state]).toEqual([null, 0, 'empty'])
    expect(churn.push(id, 2)).toMatchObject({ before: null })
    expect(world.commits(id)).toHaveLength(2)
  })

  test('[G-07] issues and pull requests open with the next number, and close', () => {
    const { world, churn } = begin()
    const issue = churn.openIssue(id)
    const pull = churn.openPull(id)
    expect(pull.number).toBe(issue.number + 1)
    expect(world.pullsBy(1001)).toContain(pull)
    expect(churn.closeIssue(id, issue.number)).toMatchObject({ state: 'closed', closedById: 1001 })
    expect(churn.mergePull(id, pull.number)).toMatchObject({ state: 'closed', mergedById: 1001 })
    expect(world.issues(id).at(-1)).toBe(issue)
  })

  test('[G-07] a pull request elsewhere is found by its author', () => {
    const { world, churn } = begin()
    const place = churn.createRepo('example-org', 'far-away')
    const pull = churn.openPull(place, 1001)
    expect(world.groundTruth('ada')!.ownPulls).toContain(pull)
    churn.deleteRepo(place)
    expect(world.groundTruth('ada')!.ownPulls).not.toContain(pull)
  })

  test('[G-07] what is shared is listed while it is shared, and a private one cannot be seen afterwards', () => {
    const { world, churn } = begin()
    const place = churn.createRepo('example-org', 'far-away')
    const isListed = () => world.groundTruth('ada')!.repositories.some((repo) => repo.id === place.id)
    churn.invite(place, 'ada')
    churn.setPrivate(place)
    expect(isListed()).toBe(true)
    churn.dismiss(place, 'ada')
    expect([isListed(), world.isVisible(place, 1001)]).toEqual([false, false])
  })

  test('[G-07] an hour of chance is the same from the same seed, and every hour leaves a world that can be read', () => {
    const hours = (seed: number) => {
      const { world, churn, clock } = begin(seed, { repositories: 12 })
      const deeds = []
      for (let hour = 0; hour < 24; hour++) {
        clock.advance(3_600_000)
        deeds.push(...churn.step({ share: 0.2 }).map(({ deed, repoId }) => `${deed} ${repoId}`))
        expect(world.groundTruth('ada')).toBeDefined()
      }
      return { deeds, truth: JSON.stringify(world.groundTruth('ada')) }
    }
    expect(hours(3)).toEqual(hours(3))
    expect(hours(3)).not.toEqual(hours(4))
  })

  test('[G-07] what is not there cannot be changed', () => {
    const { churn } = begin()
    churn.deleteRepo(id)
    expect(() => churn.push(id)).toThrow('There is no repository 100001.')
    expect(() => churn.push('ada/nothing')).toThrow('ada/nothing')
    expect(() => churn.renameLogin('nobody')).toThrow('nobody')
  })
})
