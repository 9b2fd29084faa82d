/**
 * Draws a scene as lines of text. Pure: the same scene, width and paint give the same lines, and nothing is written here.
 */
import type { Condition } from './crew.ts'
import { bar, type Colour, cut, jobs, number, type Paint, seconds, spread } from './ink.ts'
import type { Proof } from './proof.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'plain'

export interface Happening {
  readonly atMs: number
  readonly text: string
  readonly tone: Tone
}

export interface ProcessRow {
  readonly number: number
  readonly pid: number
  readonly condition: Condition
  /** Jobs it has claimed: those that run, a few that run next, and those being settled. */
  readonly held: number
  readonly leads: boolean
  readonly done: number
}

/** What a person's jobs are counted under. */
export const groups = ['discovery', 'commits', 'issues', 'pulls'] as const

export interface PersonRow {
  readonly login: string
  readonly bars: Readonly<Record<(typeof groups)[number], { readonly done: number; readonly total: number }>>
  /** Of the tightest budget. */
  readonly quota: { readonly remaining: number; readonly limit: number } | undefined
  readonly mood: 'waiting' | 'collecting' | 'limited' | 'refused' | 'done'
  readonly note: string
}

export interface Scene {
  readonly title: string
  readonly subtitle: string
  readonly elapsedMs: number
  readonly people: readonly PersonRow[]
  readonly processes: readonly ProcessRow[]
  readonly happenings: readonly Happening[]
  readonly proof?: Proof | undefined
  readonly footer: readonly string[]
}

const happeningsMax = 10
const nameWidth = 8
const noteWidth = 25
const slotsMax = 12

export function drawFrame(scene: Scene, columns: number, rows: number, paint: Paint): string[] {
  const width = Math.max(60, Math.min(columns, 120)) - 4
  const top = [
    '',
    spread(paint('bold', scene.title), paint('dim', seconds(scene.elapsedMs)), width),
    paint('dim', scene.subtitle),
    '',
    ...peopleLines(scene.people, width, paint),
    '',
    ...scene.processes.map((process) => processLine(process, width, paint)),
    '',
  ]
  const bottom = [
    ...(scene.proof ? ['', ...proofLines(scene.proof, paint)] : []),
    ...scene.footer.map((line) => paint('dim', line)),
    '',
  ]
  const room = Math.max(1, Math.min(happeningsMax, rows - top.length - bottom.length - 1))
  const lines = [...top, ...scene.happenings.slice(-room).map((one) => happeningLine(one, paint)), ...bottom]
  return fit(lines, rows - 1).map((line) => cut(`  ${line}`, columns - 1))
}

/** A frame taller than the terminal could not be drawn over: empty lines go first. */
function fit(lines: readonly string[], rows: number): string[] {
  let spare = lines.length - rows
  return lines.filter((line) => line !== '' || spare-- <= 0).slice(0, rows)
}

const moodColours: Record<PersonRow['mood'], Colour> = {
  waiting: 'dim',
  collecting: 'cyan',
  limited: 'yellow',
  refused: 'red',
  done: 'green',
}

function peopleLines(people: readonly PersonRow[], width: number, paint: Paint): string[] {
  const cell = Math.floor((width - nameWidth - noteWidth) / groups.length)
  const countWidth = cell >= 18 ? 8 : 0
  const barWidth = Math.max(4, cell - countWidth - 2)
  const head = `${' '.repeat(nameWidth)}${groups.map((group) => group.padEnd(cell)).join('')}`
  return [
    paint('dim', spread(head, 'calls left', width)),
    ...people.map(({ login, bars, quota, mood, note }) => {
      const cells = groups.map((group) => {
        const { done, total } = bars[group]
        // Nothing to do is done as well.
        const drawn = bar(total > 0 ? done / total : mood === 'done' ? 1 : 0, barWidth)
        const rest = paint('dim', '─'.repeat(barWidth - drawn.length))
        const figures = countWidth > 0 ? ` ${(total === 0 ? '' : `${done}/${total}`).padEnd(countWidth - 1)}` : ''
        return `${paint(done === total ? 'green' : moodColours[mood], drawn)}${rest}${paint('dim', figures)}  `
      })
      const left = quota ? `${quota.remaining}/${quota.limit}` : ''
      const notes = `${paint(moodColours[mood], note.padEnd(noteWidth - 8).slice(0, noteWidth - 8))} ${left.padStart(7)}`
      return spread(`${login.padEnd(nameWidth)}${cells.join('').trimEnd()}`, notes, width)
    }),
  ]
}

function processLine(process: ProcessRow, width: number, paint: Paint): string {
  const [mark, text] = conditionOf(process, paint)
  const pid = width < 70 ? '' : paint('dim', `pid ${process.pid}`)
  const done = `${pid}${number(process.done).padStart(7)} ${paint('dim', 'jobs done')}`
  return spread(`${`up ${process.number}`.padEnd(nameWidth)}${mark} ${text}`, done, width)
}

function conditionOf({ condition, held, leads }: ProcessRow, paint: Paint): [mark: string, text: string] {
  const slots = '▪'.repeat(Math.min(held, slotsMax)) + paint('dim', '·'.repeat(Math.max(0, slotsMax - held)))
  switch (condition) {
    case 'starting':
      return [paint('dim', '○'), `${paint('dim', '·'.repeat(slotsMax))}  ${paint('dim', 'starts')}`]
    case 'working':
      return [paint('green', '●'), `${slots}  ${leads ? paint('bold', 'leads') : ''}`]
    case 'killed':
      return [paint('red', '✖'), `${slots}  ${paint('red', held > 0 ? `dead, holds ${jobs(held)}` : 'dead')}`]
    case 'stopping':
      return [paint('cyan', '◌'), `${slots}  ${paint('cyan', 'stops: takes nothing new, ends what it runs')}`]
    case 'stopped':
      return [paint('dim', '○'), `${paint('dim', '·'.repeat(slotsMax))}  ${paint('dim', 'stopped')}`]
  }
}

const toneColours: Record<Tone, Colour | undefined> = { good: 'green', bad: 'red', warn: 'yellow', plain: undefined }

function happeningLine({ atMs, text, tone }: Happening, paint: Paint): string {
  const colour = toneColours[tone]
  return `${paint('dim', seconds(atMs).padStart(nameWidth - 1))}  ${colour ? paint(colour, text) : text}`
}

export function proofLines(proof: Proof, paint: Paint): string[] {
  const { facts, missing, wrong, doubled, lost, overBudget, calls, rescued, runs } = proof
  const line = (label: string, value: number, note: string): string =>
    `${label.padEnd(12)}${paint(value === 0 ? 'green' : 'red', number(value).padStart(6))}   ${paint('dim', note)}`
  return [
    `${paint('bold', 'Proof')} ${paint('dim', 'the database against what the simulator knows to be true')}`,
    line('missing', missing, `of ${number(facts)} repositories, commits, issues, pull requests`),
    line('wrong', wrong, 'stored, and not so'),
    line('doubled', doubled, 'jobs that ended twice'),
    line('lost', lost, `jobs of ${number(runs)} collections without an end; ${number(rescued)} rescued`),
    line('over budget', overBudget, `of ${number(calls)} calls that the simulator counted`),
  ]
}
