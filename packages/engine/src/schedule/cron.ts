/**
 * When a cron expression fires in a time zone. croner reads the expression and knows the calendar; this file holds it to the rules of
 * docs/schedules.md and says what is wrong in words that help.
 *
 * Fixed times of day ("30 2 * * *", "0 9,17 * * *") fire exactly once on every day they name: in the hour that is skipped in spring at the
 * first moment after it, in the hour that comes twice in autumn the first time. croner does this for a single time, so a list of times
 * is split into single ones. Everything else (steps, ranges, stars) follows the clock on the wall: what does not exist is left out, what comes
 * twice fires twice, so "every 30 minutes" stays every 30 minutes.
 */
import { Cron } from 'croner'
import { SluiceError } from '../support/errors.ts'

export interface Fires {
  /** The first fire strictly after this time. An expression that never fires, such as 30 February, throws. */
  next(afterMs: number): number
  /** The last `count` fires up to and including this time, oldest first. */
  last(upToMs: number, count: number): number[]
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
/** A list with more times of day than this is read as an interval: each time costs a calendar of its own. */
const timesADayMax = 48
const numbers = /^\d{1,2}(?:,\d{1,2})*$/

/** Throws INVALID_CRON or INVALID_ZONE. */
export function parseCron(cron: string, zone: string): Fires {
  checkZone(zone)
  const march = compile('', '0 0 1 3 *', zone)
  const parts = timesOf(fieldsOf(cron)).map((pattern) => compile(cron, pattern, zone))
  return {
    next(afterMs) {
      const nexts = parts.flatMap((part) => nextOf(part, march, afterMs) ?? [])
      if (nexts.length === 0)
        throw new SluiceError('INVALID_CRON', { cron, problem: 'it never fires; no month of it has its day' })
      return Math.min(...nexts)
    },
    last(upToMs, count) {
      // croner looks back from the second before the one it is given.
      const from = new Date((Math.floor(upToMs / 1_000) + 1) * 1_000)
      const found = parts.flatMap((part) => part.previousRuns(count, from).map((date) => date.getTime()))
      return [...new Set(found)].toSorted((a, b) => a - b).slice(-count)
    },
  }
}

/**
 * croner 9 to 11 looks for day 31 in February, lands in March and never sees its first days: "0 0 1,31 * *" would skip 1 March. So no search
 * goes from February into March; a new one begins there.
 */
function nextOf(part: Cron, march: Cron, afterMs: number): number | undefined {
  for (let fromMs = afterMs, spring = march.nextRun(new Date(afterMs)); ; ) {
    const found = part.nextRun(new Date(fromMs))
    if (!found || !spring || found <= spring) return found?.getTime()
    fromMs = spring.getTime() - 1_000
    spring = march.nextRun(spring)
  }
}

function checkZone(zone: string): void {
  try {
    // Names only: an offset knows no summer time, and not every Node takes one.
    if (!/^[a-z]/i.test(zone)) throw new RangeError('no name')
    Intl.DateTimeFormat('en', { timeZone: zone })
  } catch (cause) {
    throw new SluiceError('INVALID_ZONE', { zone }, cause)
  }
}

function fieldsOf(cron: string): string[] {
  const text = cron.trim()
  const fields = (nicknames[text.toLowerCase()] ?? text).split(/\s+/)
  if (fields[0]?.startsWith('@'))
    throw new SluiceError('INVALID_CRON', {
      cron,
      problem: `there is no such name; there are ${Object.keys(nicknames).join(', ')}`,
    })
  if (fields.length !== 5 && fields.length !== 6)
    throw new SluiceError('INVALID_CRON', {
      cron,
      problem: `it has ${text === '' ? 0 : fields.length} fields instead of five (or six, with seconds first)`,
    })
  // croner would put the present time in its place, another one in each process.
  if (text.includes('?')) throw new SluiceError('INVALID_CRON', { cron, problem: '"?" has no meaning here; use "*"' })
  return fields
}

/** A list of times of day becomes one pattern a time; anything else stays one pattern. */
function timesOf(fields: readonly string[]): string[] {
  const clock = fields.slice(0, -3)
  const rest = fields.slice(-3).join(' ')
  const lists = clock.map((field) => (numbers.test(field) ? [...new Set(field.split(','))] : []))
  const times = lists.reduce((product, list) => product * list.length, 1)
  if (times <= 1 || times > timesADayMax) return [fields.join(' ')]
  const combine = (done: string[][], list: string[]): string[][] => done.flatMap((head) => list.map((one) => [...head, one]))
  return lists.reduce(combine, [[]]).map((time) => `${time.join(' ')} ${rest}`)
}

function compile(cron: string, pattern: string, zone: string): Cron {
  try {
    return new Cron(pattern, { timezone: zone, paused: true, mode: '5-or-6-parts' })
  } catch (cause) {
    throw new SluiceError('INVALID_CRON', { cron, problem: complaint(cause) }, cause)
  }
}

/** croner counts days and months from zero in its complaints. */
function complaint(cause: unknown): string {
  const text = (cause instanceof Error ? cause.message : String(cause)).replace(/^CronPattern: /, '').replace(/\.$/, '')
  const range = /^Invalid value for (\w+): -?\d+$/.exec(text)
  const limits: Readonly<Record<string, string>> = {
    second: '0 to 59',
    minute: '0 to 59',
    hour: '0 to 23',
    day: '1 to 31',
    month: '1 to 12',
    dayOfWeek: '0 to 7, with Sunday as 0 and 7',
  }
  const field = range?.[1] ?? ''
  return field in limits ? `the field for ${field === 'dayOfWeek' ? 'weekday' : field} takes ${limits[field]}` : text
}
