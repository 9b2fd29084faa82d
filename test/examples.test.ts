/**
 * The examples run as a newcomer runs them: built, each in a process of its own, and their output is what their text promises.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestDatabase, type TestDatabase } from '@sluice/local-postgres/testing'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'

const folder = fileURLToPath(new URL('../examples/', import.meta.url))
const examples = readdirSync(folder)
  .filter((file) => /^\d\d-.*\.ts$/.test(file))
  .map((file) => file.replace(/\.ts$/, ''))

/** What each one prints, line by line. */
const output: Record<string, RegExp[]> = {
  '01-first-job': [/^job \d+ is stored$/, /^Hello Ada! \(attempt 1\)$/, /^stopped; nothing is left behind$/],
  '02-enqueue-in-your-transaction': [
    /^after the rollback job \d+ is nowhere$/,
    /^after the commit job \d+ is ready$/,
    /^receipt for order \d+ is sent$/,
  ],
  '03-enqueue-from-sql': [
    /^welcome, Ben$/,
    /^welcome, Dora$/,
    /^a slip of the pen.*unknown kind "member\.welcom"$/,
    /^welcome, Cleo$/,
  ],
  '04-retries-and-outcomes': [
    /^transfer to ann: succeeded$/,
    /^ {2}attempt 1: snooze$/,
    /^ {2}attempt 1: retry, the line is busy$/,
    /^ {2}attempt 2: retry, the line is busy$/,
    /^ {2}attempt 3: succeeded$/,
    /^transfer to nobody: failed$/,
    /^ {2}still visible: attempt 1, no such account$/,
    /^ {2}discarded: 1$/,
  ],
  '05-delayed': [
    /^why does it not run\? not before: It is not due before .*Z\.$/,
    // Late is a matter of the machine, early is not.
    /^after ([1-9]|\d\d+)(\.\d)? s: call back$/,
    /^after ([3-9]|\d\d+)(\.\d)? s: save the final version$/,
    /^after ([5-9]|\d\d+)(\.\d)? s: water the plants$/,
  ],
  '06-cancel': [
    /^rendering Metropolis …$/,
    /^cancel job \d+: canceled$/,
    /^cancel job \d+: requested$/,
    /^both are canceled; the handler stopped within milliseconds$/,
  ],
  '07-testing-your-handler': [
    /^out of stock: one notification would follow$/,
    /^now: stock\.watch retry$/,
    /^an hour later: stock\.watch retry$/,
    /^a day later: stock\.watch done, stock\.notify done$/,
  ],
  '08-heavy-work-in-its-own-process': [/^3001134 primes below 50000000, and light jobs ran meanwhile$/],
  '09-cron-in-seoul': [
    /^the next three fires in Seoul: 00:05, 00:05, 00:05$/,
    ...Array.from({ length: 4 }, () => /^closing the books of Insa-dong$/),
    /^3 nights, then a week of holidays$/,
  ],
  '10-events': [
    /^stock for order 2 is taken$/,
    /^receipt for order 2, at attempt 2$/,
    /^parcel for order 2 is packed, because of event \d+$/,
  ],
  '11-tenants-with-budgets': [
    /^ada: 2 left, closed until the reset$/,
    /^ben: 2 left, closed until the reset$/,
    /^refused by the server: 0$/,
    /^why does page 99 wait\? budget used up$/,
  ],
  '12-a-run-with-children': [
    /^A run of "shelf\.read" for ada is under way: run N\. Wait for its end or cancel it\.$/,
    /^finalizer: 9 jobs, 7 succeeded, 2 failed$/,
    /^the run is completed$/,
    /^dead jobs of it that can be retried or discarded: 2$/,
  ],
  '13-pausing-an-owner': [
    /^ben has run 3 steps, ada 0$/,
    /^The owner ada is paused: token revoked\. Resume it to go on\.$/,
    /^paused: owner ada, token revoked$/,
    /^resumed: ada has run 4 steps$/,
  ],
}

/** What the default log says on standard error: jobs that failed for good. Nothing where none does. */
const logged: Record<string, RegExp[]> = {
  '04-retries-and-outcomes': [/"job failed".*"money\.transfer".*"no such account"/],
  '12-a-run-with-children': [/"job failed".*"chapter 3 of Emma/, /"job failed".*"chapter 3 of Middlemarch/],
}

/** One for all of them, as a newcomer has it: whatever ran before, in whatever order. */
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase({ serverUrl: inject('serverUrl'), template: inject('template') })
})
afterAll(() => database.drop())

test.for(examples)('[E-28] example %s prints what it promises and ends by itself', { timeout: 120_000 }, async (example) => {
  const { code, lines, errors } = await run(example, { env: { ...process.env, DATABASE_URL: database.url } })
  expectLines(linesOf(errors), logged[example] ?? [])
  expect(code).toBe(0)
  expectLines(lines, output[example] ?? [])
})

/** What happens at the same moment may come in any order, so each line is looked for anywhere. */
function expectLines(lines: string[], expected: RegExp[]): void {
  expect(lines, lines.join('\n')).toHaveLength(expected.length)
  for (const line of expected) expect(lines).toContainEqual(expect.stringMatching(line))
}

test('[O-02] [E-28] the first example needs no database: it starts its own and takes it down', { timeout: 120_000 }, async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-example-'))
  const { DATABASE_URL: _, ...env } = process.env
  for (let time = 1; time <= 2; time++) {
    const { code, lines, errors } = await run('01-first-job', { env, cwd })
    expect({ code, errors, lines: lines.length }).toEqual({ code: 0, errors: '', lines: 3 })
  }
  expect(existsSync(join(cwd, '.sluice', 'postgres'))).toBe(true)
  rmSync(cwd, { recursive: true, force: true })
})

test('every example is short, opens with a text, and stands in the list of examples', () => {
  const list = readFileSync(join(folder, 'README.md'), 'utf8')
  for (const example of examples) {
    const text = readFileSync(join(folder, `${example}.ts`), 'utf8')
    expect(text.split('\n').length, example).toBeLessThanOrEqual(61)
    expect(text, example).toMatch(/^\/\*\*\n \* [A-Z]/)
    expect(list).toContain(`[${example}](${example}.ts)`)
    expect(Object.keys(output)).toContain(example)
  }
})

async function run(
  example: string,
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): Promise<{ code: number | null; lines: string[]; errors: string }> {
  const built = join(folder, 'dist', `${example}.js`)
  if (!existsSync(built)) throw new Error(`${built} is missing: run npm run build`)
  const child = spawn(process.execPath, [built], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let [printed, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, lines: linesOf(printed), errors }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
