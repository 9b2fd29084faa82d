/** Scores and streaks: rules that hold for all deeds, and the examples that docs/scores.md shows to people. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commitLinesMax, countLines, type Deeds, formulaVersion, score, weigh } from './score.ts'
import { countStreaks } from './streaks.ts'

const amount = fc.nat(1_000_000)
const merged = fc.array(fc.record({ stars: fc.nat(400_000), count: fc.nat(1_000) }), { maxLength: 30 })
const deeds: fc.Arbitrary<Deeds> = fc.record({
  commits: amount,
  countedLines: amount,
  longestStreak: fc.nat(10_000),
  issuesSolved: amount,
  mergedByStars: merged,
})
const none: Deeds = { commits: 0, countedLines: 0, longestStreak: 0, issuesSolved: 0, mergedByStars: [] }

describe('[C-12] the score', () => {
  test('[C-12] is nothing for nothing', () => {
    expect(score(none)).toEqual({ pullRequestWeight: 0, activity: 0, impact: 0, score: 0 })
  })

  test('[C-12] is never negative, always finite, and the sum of its two halves', () => {
    fc.assert(
      fc.property(deeds, (done) => {
        const { activity, impact, score: whole, pullRequestWeight } = score(done)
        for (const part of [activity, impact, pullRequestWeight]) {
          expect(part).toBeGreaterThanOrEqual(0)
          expect(Number.isFinite(part)).toBe(true)
        }
        expect(whole).toBe(activity + impact)
      }),
    )
  })

  test('[C-12] rises with every deed, and only in its own half', () => {
    const fields = ['commits', 'countedLines', 'longestStreak', 'issuesSolved'] as const
    fc.assert(
      fc.property(deeds, fc.constantFrom(...fields), fc.integer({ min: 1, max: 1_000 }), (done, field, more) => {
        const [before, after] = [score(done), score({ ...done, [field]: done[field] + more })]
        const [half, other] = field === 'issuesSolved' ? (['impact', 'activity'] as const) : (['activity', 'impact'] as const)
        expect(after[half]).toBeGreaterThan(before[half])
        expect(after[other]).toBe(before[other])
      }),
    )
  })

  test('[C-12] rises with every merged pull request, and more so where there are more stars', () => {
    fc.assert(
      fc.property(deeds, fc.nat(400_000), fc.integer({ min: 1, max: 400_000 }), (done, stars, moreStars) => {
        const plus = (of: number) => score({ ...done, mergedByStars: [...done.mergedByStars, { stars: of, count: 1 }] }).impact
        expect(plus(stars)).toBeGreaterThan(score(done).impact)
        expect(plus(stars + moreStars)).toBeGreaterThan(plus(stars))
      }),
    )
  })

  test('[C-12] does not depend on the order of the pull requests nor on how they are grouped, to the last bit', () => {
    fc.assert(
      fc.property(
        merged.chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length }))),
        ([rows, shuffled]) => {
          const split = shuffled.flatMap(({ stars, count }) => [
            { stars, count: Math.floor(count / 2) },
            { stars, count: Math.ceil(count / 2) },
          ])
          expect(score({ ...none, mergedByStars: split })).toEqual(score({ ...none, mergedByStars: rows }))
        },
      ),
    )
  })

  test('[C-12] a vendored library is worth no more than one full commit', () => {
    expect(countLines(2_000_000, 0)).toBe(commitLinesMax)
    expect(countLines(3, 4)).toBe(7)
    const vendored = score({ ...none, commits: 1, countedLines: countLines(2_000_000, 0) })
    const year = score({ ...none, commits: 400, countedLines: 400 * countLines(40, 10) })
    expect(year.activity).toBeGreaterThan(3 * vendored.activity)
  })

  test('[C-12] each ten-fold of stars weighs one more', () => {
    expect([0, 9, 99, 999, 99_999].map((stars) => Math.round(weigh(stars) * 1e9) / 1e9)).toEqual([1, 2, 3, 4, 6])
  })
})

describe('[C-12] streaks', () => {
  test.for<[string, number[], number, [number, number, number]]>([
    ['nothing', [], 100, [0, 0, 0]],
    ['today alone', [100], 100, [1, 1, 1]],
    ['yesterday alone still counts as current', [99], 100, [1, 1, 1]],
    ['the day before does not', [98], 100, [1, 1, 0]],
    ['a gap begins anew', [90, 91, 92, 99, 100], 100, [5, 3, 2]],
    ['a day counts once', [99, 99, 100, 100], 100, [2, 2, 2]],
    ['days to come count for nothing', [100, 101, 102], 100, [1, 1, 1]],
    ['days before 1970 are days', [-2, -1, 0, 1], 100, [4, 4, 0]],
  ])('[C-12] %s', ([, days, today, [activeDays, longestStreak, currentStreak]]) => {
    expect(countStreaks(days, today)).toEqual({ activeDays, longestStreak, currentStreak })
  })

  test('[C-12] do not depend on the order of the days, and one more day shortens none', () => {
    const days = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 60 })
    fc.assert(
      fc.property(days, fc.nat(60), fc.nat(60), (given, more, today) => {
        const before = countStreaks(given, today)
        expect(countStreaks(given.toReversed(), today)).toEqual(before)
        const after = countStreaks([more, ...given], today)
        for (const part of ['activeDays', 'longestStreak', 'currentStreak'] as const)
          expect(after[part]).toBeGreaterThanOrEqual(before[part])
        expect(before.longestStreak).toBeGreaterThanOrEqual(before.currentStreak)
        expect(before.activeDays).toBeGreaterThanOrEqual(before.longestStreak)
      }),
    )
  })
})

describe('[C-12] docs/scores.md', () => {
  const text = readFileSync(new URL('../../../../docs/scores.md', import.meta.url), 'utf8')

  test('[C-12] tells this version of the formula', () => {
    expect(text).toContain(`version ${formulaVersion}`)
    expect(text).toContain(`${commitLinesMax} lines`)
  })

  test('[C-12] every worked example comes out as it is written', () => {
    const rows = [...text.matchAll(/^\| (?!who|-)([^|]+) \|(.+)\|$/gm)].filter(([line]) => line.split('|').length === 11)
    expect(rows.length).toBeGreaterThanOrEqual(5)
    for (const [, who, cells] of rows) {
      const [commits, lines, streak, issues, pulls, activity, impact, whole] = (cells ?? '').split('|').map((cell) => cell.trim())
      const made = score({
        commits: readNumber(commits),
        countedLines: readNumber(lines),
        longestStreak: readNumber(streak),
        issuesSolved: readNumber(issues),
        mergedByStars: readMerged(pulls ?? ''),
      })
      const shown = [made.activity, made.impact, made.score].map((value) => value.toFixed(1))
      expect([who, ...shown]).toEqual([who, activity, impact, whole])
    }
  })
})

function readNumber(text = ''): number {
  return Number(text.replaceAll(',', ''))
}

/** `2 × 0, 1 × 999`: how many × stars of the base. */
function readMerged(text: string): { stars: number; count: number }[] {
  if (text === '–') return []
  return text.split(', ').map((pair) => {
    const [count, stars] = pair.split(' × ')
    return { count: readNumber(count), stars: readNumber(stars) }
  })
}
