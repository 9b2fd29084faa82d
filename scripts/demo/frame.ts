/**
 * Draws a scene as lines of text. Pure: the same scene, width and paint give the same lines, and nothing is written here.
 */
import type { Condition } from './crew.ts'
import { bar, type Colour, cut, jobs, number, type Paint, seconds, sparkline, spread } from './ink.ts'
import { slots } from './link.ts'
import { type Proof, plannedCalls } from './proof.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'plain'

export interface Happening {
  readonly atMs: number
  readonly text: string
  readonly tone: Tone
}

export interface WorkerRow {
  readonly number: number
  readonly pid: number
  readonly condition: Condition
  /** Not heard of for a while, although nobody told us why. */
  readonly silent: boolean
  readonly running: number
  /** Jobs it has claimed: those that run, a few that run next, and those being settled. */
  readonly held: number
  readonly leads: boolean
  readonly doing: string
  readonly done: number
}

export interface TenantRow {
  readonly name: string
  readonly calls: number
  readonly done: number
  /** Its budget is used up until the next window. */
  readonly waits: boolean
}

export interface Scene {
  readonly title: string
  readonly subtitle: string
  readonly elapsedMs: number
  readonly scheduled: number
  readonly ready: number
  readonly running: number
  readonly done: number
  /** How many will be done when all is over, as far as is known. */
  readonly planned: number
  /** The most that any live state has held so far: the bars' common scale. */
  readonly peak: number
  /** Jobs done per second, a number for each moment, the youngest last. */
  readonly pace: readonly number[]
  readonly workers: readonly WorkerRow[]
  readonly tenants: readonly TenantRow[]
  readonly happenings: readonly Happening[]
  readonly proof?: Proof | undefined
  readonly footer: readonly string[]
}

const happeningsMax = 9
const labelWidth = 11

export function drawFrame(scene: Scene, columns: number, rows: number, paint: Paint): string[] {
  const width = Math.max(60, Math.min(columns, 110)) - 4
  const top = [
    '',
    spread(paint('bold', scene.title), paint('dim', seconds(scene.elapsedMs)), width),
    paint('dim', scene.subtitle),
    '',
    ...bars(scene, width, paint),
    '',
    ...scene.workers.map((worker) => workerLine(worker, width, paint)),
    tenantLine(scene.tenants, width, paint),
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

function bars(scene: Scene, width: number, paint: Paint): string[] {
  const barWidth = width - labelWidth - 16
  const row = (label: string, drawing: string, value: string): string =>
    spread(`${paint('dim', label.padEnd(labelWidth))}${drawing}`, value, width)
  const live = (label: string, count: number, colour: Colour): string =>
    row(label, paint(colour, bar(count / Math.max(60, scene.peak), barWidth)), number(count))
  const done = bar(scene.planned === 0 ? 0 : scene.done / scene.planned, barWidth)
  const recent = scene.pace.slice(-5)
  const pace = recent.reduce((sum, one) => sum + one, 0) / Math.max(1, recent.length)
  return [
    live('scheduled', scene.scheduled, 'blue'),
    live('ready', scene.ready, 'cyan'),
    live('running', scene.running, 'yellow'),
    row(
      'done',
      paint('green', done) + paint('dim', '─'.repeat(barWidth - done.length)),
      `${number(scene.done)} of ${number(scene.planned)}`,
    ),
    row('per second', paint('dim', sparkline(scene.pace.slice(-barWidth))), number(Math.round(pace))),
  ]
}

function workerLine(worker: WorkerRow, width: number, paint: Paint): string {
  const name = `worker ${worker.number}`.padEnd(labelWidth)
  const used = '▪'.repeat(worker.running) + paint('dim', '·'.repeat(Math.max(0, slots - worker.running)))
  const [mark, text] = conditionOf(worker, used, paint)
  const pid = width < 70 ? '' : paint('dim', `pid ${worker.pid}`)
  return spread(`${name}${mark} ${text}`, `${pid}${number(worker.done).padStart(7)} ${paint('dim', 'done')}`, width)
}

function conditionOf(worker: WorkerRow, used: string, paint: Paint): [mark: string, text: string] {
  if (worker.silent) return [paint('yellow', '‖'), `${used}  ${paint('yellow', 'silent')}`]
  switch (worker.condition) {
    case 'starting':
      return [paint('dim', '○'), `${'·'.repeat(slots)}  ${paint('dim', 'starts')}`]
    case 'working':
      return [
        paint('green', '●'),
        `${used}  ${worker.leads ? paint('bold', 'leads, ') : ''}${worker.doing || paint('dim', 'waits for work')}`,
      ]
    case 'frozen':
      return [
        paint('yellow', '‖'),
        `${used}  ${paint('yellow', worker.held > 0 ? `frozen, holds ${jobs(worker.held)}` : 'frozen, its jobs run elsewhere')}`,
      ]
    case 'killed':
      return [
        paint('red', '✖'),
        `${paint('red', '▪'.repeat(worker.running))}${' '.repeat(slots - worker.running)}  ${paint('red', worker.held > 0 ? `dead, holds ${jobs(worker.held)}` : 'dead')}`,
      ]
    case 'stopping':
      return [paint('cyan', '◌'), `${used}  ${paint('cyan', 'stops: takes nothing new, ends what it runs')}`]
    case 'stopped':
      return [paint('dim', '○'), `${paint('dim', '·'.repeat(slots))}  ${paint('dim', 'stopped')}`]
  }
}

/** One line for all: what of their calls is done, and who waits for the next window. */
function tenantLine(tenants: readonly TenantRow[], width: number, paint: Paint): string {
  const barWidth = Math.max(4, Math.floor((width - labelWidth) / Math.max(1, tenants.length)) - 20)
  const cells = tenants.map(({ name, calls, done, waits }) => {
    const drawn = bar(done / calls, barWidth)
    const rest = paint('dim', '─'.repeat(barWidth - drawn.length))
    const count = `${number(done)}/${number(calls)}`.padEnd(8)
    return `${name} ${paint(waits ? 'yellow' : 'green', drawn)}${rest} ${waits ? paint('yellow', count) : count}`
  })
  return `${'tenants'.padEnd(labelWidth)}${cells.join(' ')}`
}

const toneColours: Record<Tone, Colour | undefined> = { good: 'green', bad: 'red', warn: 'yellow', plain: undefined }

function happeningLine({ atMs, text, tone }: Happening, paint: Paint): string {
  const colour = toneColours[tone]
  return `${paint('dim', seconds(atMs).padStart(labelWidth - 3))}   ${colour ? paint(colour, text) : text}`
}

export function proofLines(proof: Proof, paint: Paint): string[] {
  const { orders, items, done, waiting, lost, doubled, unexpected, calls, overdrawn, windows, rescued, retried } = proof
  const line = (label: string, value: number, expected: boolean, note: string): string =>
    `${label.padEnd(labelWidth)}${paint(expected ? 'green' : 'red', number(value).padStart(7))}   ${paint('dim', note)}`
  return [
    `${paint('bold', 'Proof')} ${paint('dim', 'counted from the database')}`,
    line('enqueued', orders + items, true, `${number(orders)} orders, ${number(items)} items`),
    line(
      'done',
      done,
      done + waiting === orders + items,
      waiting > 0 ? `${number(waiting)} still to come` : 'each has its ledger row and its effect',
    ),
    line('lost', lost, lost === 0, 'enqueued, but neither done nor on its way'),
    line('doubled', doubled, doubled === 0, 'effects that are there twice'),
    line('leaked', unexpected, unexpected === 0, 'jobs of orders that were rolled back'),
    line(
      'overdrawn',
      overdrawn,
      overdrawn === 0 && calls === plannedCalls,
      `${number(calls)} calls in ${number(windows)} windows of three tenants; the server counted`,
    ),
    paint('dim', `on the way: ${number(rescued)} attempts lost with their process, ${number(retried)} failed and tried again`),
  ]
}
