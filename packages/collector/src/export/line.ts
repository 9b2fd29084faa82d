/**
 * One row as a line of text: JSON Lines, or CSV by RFC 4180.
 *
 * A spreadsheet takes a text that begins with = + - @ (or a tab or a return before one) for a formula and runs it. Titles and names come from strangers, so
 * such a text gets an apostrophe in front, which spreadsheets show as plain text. Numbers and times are ours and stay as they are.
 */
import type { Column, ColumnSort } from './sources.ts'

export const exportFormats = ['jsonl', 'csv'] as const

export type ExportFormat = (typeof exportFormats)[number]

export type ExportRow = Readonly<Record<string, unknown>>

/** What stands before the first row. */
export function openingLine(format: ExportFormat, columns: readonly Column[]): string {
  return format === 'csv' ? `${columns.map(({ name }) => name).join(',')}\r\n` : ''
}

export function writeLine(format: ExportFormat, columns: readonly Column[], row: ExportRow): string {
  if (format === 'jsonl') return `${JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])))}\n`
  return `${columns.map(({ name, sort }) => writeField(row[name], sort)).join(',')}\r\n`
}

function writeField(value: unknown, sort: ColumnSort): string {
  if (value === null || value === undefined) return ''
  switch (sort) {
    case 'number':
    case 'truth':
      return `${value as number | boolean}`
    case 'time':
      return (value as Date).toISOString()
    case 'json':
      return quote(disarm(JSON.stringify(value)))
    case 'text':
      return quote(disarm(value as string))
  }
}

function disarm(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

/** An empty text is quoted, because nothing at all stands for "not known". */
function quote(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
