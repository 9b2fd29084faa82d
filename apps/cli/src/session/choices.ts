/**
 * Options that many commands have, and readers that check what was written, at the door.
 */
import { InvalidArgumentError } from 'commander'
import type { Choice } from './tree.ts'

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`)
    return value
  }
}

export function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (!words.includes(text)) throw new InvalidArgumentError(`Write one of ${words.join(', ')}.`)
    return text
  }
}

/** `a,b`: each of them one of the words. */
export function someOf(words: readonly string[]): (text: string) => string[] {
  const check = oneOf(words)
  return (text) => text.split(',').map((word) => check(word.trim()))
}

export function duration(text: string): string {
  if (!/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) throw new InvalidArgumentError('Write a duration such as 30s, 10m or 2h.')
  return text
}

export function time(text: string): Date {
  const date = new Date(text)
  // JavaScript reads "12" as a month and the 30th of February as the 2nd of March: the job would run at once, or on another day.
  const day = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}|$)/.exec(text)?.[1]
  const isReal = day !== undefined && isDay(day)
  if (!isReal || Number.isNaN(date.getTime())) throw new InvalidArgumentError('Write a time such as 2027-01-31T14:00Z.')
  return date
}

function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text)
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError(`Write JSON, in single quotes for the shell: '{"to":"ann"}'.`)
  }
}

export function idOf(text: string): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id) || id < 1)
    throw new InvalidArgumentError(`"${text}" is no id. Write a number.`)
  return id
}

export const paging: readonly Choice[] = [
  { flags: '-n, --limit <count>', about: 'how many, 1 to 500 (default 50)', read: wholeNumber(1, 500) },
  { flags: '--cursor <cursor>', about: 'go on where the last page ended' },
]

export const reason: Choice = { flags: '--reason <text>', about: 'why, for those who wonder later' }
export const owner: Choice = { flags: '--owner <name>', about: 'on whose behalf' }
export const yes: Choice = { flags: '-y, --yes', about: 'do not ask' }
export const dryRun: Choice = { flags: '--dry-run', about: 'count what it would change, and change nothing' }
export const wait: Choice = { flags: '-w, --wait', about: 'wait for the end; the exit code says how it ended' }
