import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { drawFrame, type PersonRow, type Scene } from '#scripts/demo/frame'
import { bar, colours, cut, noColours, spread } from '#scripts/demo/ink'
import { holds, type Proof } from '#scripts/demo/proof'

const program = fileURLToPath(new URL('../scripts/dist/demo.js', import.meta.url))
const run = promisify(execFile)

const proof: Proof = {
  facts: 1_234,
  missing: 0,
  wrong: 0,
  doubled: 0,
  lost: 0,
  overBudget: 0,
  calls: 300,
  rescued: 2,
  runs: 10,
}
const person = (login: string, mood: PersonRow['mood'], note: string): PersonRow => ({
  login,
  bars: {
    discovery: { done: 4, total: 4 },
    commits: { done: 12, total: 80 },
    issues: { done: 0, total: 3 },
    pulls: { done: 0, total: 0 },
  },
  quota: { remaining: 12, limit: 30 },
  mood,
  note,
})
const scene: Scene = {
  title: 'Title',
  subtitle:
    'a line that is much longer than a narrow terminal could ever show without wrapping around its edge, and a little more',
  elapsedMs: 1_234,
  people: [
    person('acorn', 'collecting', 'collects'),
    person('birch', 'refused', 'token refused'),
    person('cedar', 'done', 'score 12.3'),
  ],
  processes: [
    { number: 1, pid: 4711, condition: 'killed', held: 4, leads: false, done: 1_000 },
    { number: 2, pid: 4712, condition: 'working', held: 1, leads: true, done: 5 },
  ],
  happenings: Array.from({ length: 30 }, (_, index) => ({
    atMs: index * 100,
    text: `happening ${index}`,
    tone: 'good' as const,
  })),
  proof,
  footer: [],
}

describe('the demo', () => {
  test('[C-08] [C-14] kills and stops processes, renames, revokes, runs into limits, and what it holds is what there is', {
    timeout: 300_000,
  }, async () => {
    expect(existsSync(program), 'build first: npm run build').toBe(true)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'))
    await chmod(folder, 0o711) // the server runs under an account of its own when we are root
    try {
      const { stdout } = await run(process.execPath, [program, '--exit'], { env: { ...process.env, TMPDIR: folder } })
      for (const happening of [
        'killed with kill -9',
        'rescued',
        'asked to stop (SIGTERM)',
        'renames',
        'budget is used up',
        'revokes its token',
        'gets a new token',
        'everybody is collected',
        'only what changed was read',
        'scores: acorn',
      ])
        expect(stdout).toContain(happening)
      // Nobody is sent to an address that is gone.
      expect(stdout).not.toContain('/docs')
      const figure = (label: string) => Number(new RegExp(`^${label} +([\\d,]+)`, 'm').exec(stdout)?.[1]?.replaceAll(',', ''))
      expect(['missing', 'wrong', 'doubled', 'lost', 'over budget'].map(figure)).toEqual([0, 0, 0, 0, 0])
      expect(await readdir(folder)).toEqual([])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('does not hold when anything is missing, wrong, lost, doubled or over budget, or when there was nothing', () => {
    expect(holds(proof)).toBe(true)
    for (const wrong of [{ missing: 1 }, { wrong: 1 }, { doubled: 1 }, { lost: 1 }, { overBudget: 1 }, { facts: 0 }])
      expect(holds({ ...proof, ...wrong })).toBe(false)
  })

  test('fits its frame into the terminal', () => {
    for (const [columns, rows] of [
      [80, 24],
      [120, 32],
      [60, 24],
      [200, 60],
    ] as const) {
      const lines = drawFrame(scene, columns, rows, noColours)
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(columns)
      expect(lines.length).toBeLessThan(rows)
      expect(lines.join('\n')).toContain('happening 29')
      expect(lines.join('\n')).toContain('dead, holds')
      expect(lines.join('\n')).toContain('token refused')
    }
  })

  test('draws bars and lines that are cut without counting colours', () => {
    expect([bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(0.6, 4), bar(7, 4)]).toEqual(['', '╸', '━━', '━━╸', '━━━━'])
    expect(cut(colours('red', 'abc'), 2)).toBe(colours('red', 'ab'))
    expect(cut('abc', 3)).toBe('abc')
    expect(spread('a', 'b', 6)).toBe('a    b')
    expect(spread('abcdef', 'z', 6)).toBe('ab…  z')
  })
})
