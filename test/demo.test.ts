import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { drawFrame, type Scene } from '#scripts/demo/frame'
import { bar, colours, cut, noColours, sparkline, spread } from '#scripts/demo/ink'
import { holds, type Proof, plannedCalls } from '#scripts/demo/proof'
import { plannedJobs } from '#scripts/demo/shop'

const program = fileURLToPath(new URL('../scripts/dist/demo.js', import.meta.url))
const run = promisify(execFile)

const proof: Proof = {
  orders: 1,
  items: 3,
  done: 4,
  waiting: 0,
  lost: 0,
  doubled: 0,
  unexpected: 0,
  calls: plannedCalls,
  overdrawn: 0,
  windows: 9,
  rescued: 0,
  retried: 0,
}
const scene: Scene = {
  title: 'Title',
  subtitle: 'a line that is much longer than a narrow terminal could ever show without wrapping around its edge',
  elapsedMs: 1_234,
  scheduled: 1,
  ready: 60,
  running: 3,
  done: 50,
  planned: 100,
  peak: 60,
  pace: [0, 10, 20],
  workers: [
    { number: 1, pid: 4711, condition: 'frozen', silent: false, running: 3, held: 4, leads: false, doing: '', done: 1_000 },
    { number: 2, pid: 4712, condition: 'working', silent: false, running: 1, held: 1, leads: true, doing: 'packs', done: 5 },
  ],
  tenants: [
    { name: 'acorn', calls: 70, done: 35, waits: true },
    { name: 'birch', calls: 150, done: 150, waits: false },
    { name: 'cedar', calls: 230, done: 0, waits: false },
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
  test('kills, freezes and stops workers, loses nothing, doubles nothing, leaves nothing behind', {
    timeout: 120_000,
  }, async () => {
    expect(existsSync(program), 'build first: npm run build').toBe(true)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'))
    await chmod(folder, 0o711) // the server runs under an account of its own when we are root
    try {
      const { stdout } = await run(process.execPath, [program, '--exit'], { env: { ...process.env, TMPDIR: folder } })
      for (const happening of [
        'killed with kill -9',
        'frozen (SIGSTOP)',
        'woken up (SIGCONT)',
        'asked to stop (SIGTERM)',
        'rescued',
      ])
        expect(stdout).toContain(happening)
      const figure = (label: string) => Number(new RegExp(`^${label} +([\\d,]+)`, 'm').exec(stdout)?.[1]?.replaceAll(',', ''))
      const figures = ['enqueued', 'done', 'lost', 'doubled', 'leaked', 'overdrawn'].map(figure)
      expect(figures).toEqual([plannedJobs(300), plannedJobs(300), 0, 0, 0, 0])
      expect(await readdir(folder)).toEqual([])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('does not hold when anything is missing, lost, doubled or unexpected', () => {
    expect(holds(proof)).toBe(true)
    for (const wrong of [{ done: 3 }, { lost: 1 }, { doubled: 1 }, { unexpected: 1 }, { overdrawn: 1 }, { calls: 1 }])
      expect(holds({ ...proof, ...wrong })).toBe(false)
  })

  test('fits its frame into the terminal', () => {
    for (const [columns, rows] of [
      [100, 32],
      [60, 24],
      [200, 60],
    ] as const) {
      const lines = drawFrame(scene, columns, rows, noColours)
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(columns)
      expect(lines.length).toBeLessThan(rows)
      expect(lines.join('\n')).toContain('happening 29')
      expect(lines.join('\n')).toContain('frozen, holds')
    }
  })

  test('draws bars, sparklines and lines that are cut without counting colours', () => {
    expect([bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(0.6, 4), bar(7, 4)]).toEqual(['', '╸', '━━', '━━╸', '━━━━'])
    expect(sparkline([0, 50, 100])).toBe('▁▄█')
    expect(cut(colours('red', 'abc'), 2)).toBe(colours('red', 'ab'))
    expect(cut('abc', 3)).toBe('abc')
    expect(spread('a', 'b', 6)).toBe('a    b')
    expect(spread('abcdef', 'z', 6)).toBe('ab…  z')
  })
})
