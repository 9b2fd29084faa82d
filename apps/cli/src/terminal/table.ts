/**
 * Rows for people. Columns are as wide as what is in them; on a narrow terminal those that may give way are cut, and where even that is not enough
 * each row becomes a small block of its own. Without a terminal nothing is cut.
 */
import type { Terminal } from './terminal.ts'
import { cut, pad, plain, widthOf } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string | number | null | undefined
  readonly align?: 'right'
  /** May be cut down to this width. */
  readonly least?: number
  /** May be left out on a narrow terminal, the last one first. */
  readonly spare?: true
  readonly paint?: (row: Row) => Parameters<Terminal['paint']>[0] | undefined
}

const gap = '  '

export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], terminal: Terminal): string {
  const cells = rows.map((row) => columns.map(({ value }) => textOf(value(row))))
  const { shown, widths } = arrange(columns, cells, terminal.columns)
  if (!widths) return renderBlocks(columns, rows, cells, terminal)
  const line = (parts: (index: number, width: number) => string): string =>
    shown
      .map((index, at) => parts(index, widths[at] ?? 0))
      .join(gap)
      .trimEnd()
  const side = (index: number): 'left' | 'right' => (columns[index]?.align === 'right' ? 'right' : 'left')
  const head = line((index, width) => pad(columns[index]?.title ?? '', width, side(index)))
  const body = rows.map((row, at) =>
    line((index, width) => {
      const text = pad(cut(cells[at]?.[index] ?? '', width), width, side(index))
      const colour = columns[index]?.paint?.(row)
      return colour ? terminal.paint(colour, text) : text
    }),
  )
  return [terminal.paint('dim', head), ...body].join('\n')
}

function textOf(value: string | number | null | undefined): string {
  return value === null || value === undefined ? '' : plain(String(value))
}

interface Arrangement {
  /** Indices of the columns that are shown. */
  readonly shown: readonly number[]
  /** Nothing when they do not fit however they are cut. */
  readonly widths: readonly number[] | undefined
}

/** A column that says nothing in any row is left out; spare ones are as long as it does not fit. */
function arrange<Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  room: number | undefined,
): Arrangement {
  let shown = columns.map((_, index) => index).filter((index) => index === 0 || cells.some((line) => line[index] !== ''))
  for (;;) {
    const natural = shown.map((index) =>
      Math.max(widthOf(columns[index]?.title ?? ''), ...cells.map((line) => widthOf(line[index] ?? ''))),
    )
    const least = shown.map((index) => columns[index]?.least)
    const widths = fit(natural, least, room)
    const spare = shown.findLast((index) => columns[index]?.spare)
    if (widths || spare === undefined) return { shown, widths }
    shown = shown.filter((index) => index !== spare)
  }
}

/** Takes from the widest column that may give way, until it fits. */
function fit(
  natural: readonly number[],
  least: readonly (number | undefined)[],
  columns: number | undefined,
): number[] | undefined {
  const widths = [...natural]
  if (columns === undefined) return widths
  const room = columns - gap.length * (widths.length - 1)
  for (let over = sum(widths) - room; over > 0; over--) {
    const [widest] = widths
      .map((width, index) => ({ width, index }))
      .filter(({ width, index }) => width > (least[index] ?? Number.POSITIVE_INFINITY))
      .toSorted((a, b) => b.width - a.width)
    if (!widest) return undefined
    widths[widest.index] = widest.width - 1
  }
  return widths
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

function renderBlocks<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  cells: readonly (readonly string[])[],
  terminal: Terminal,
): string {
  return rows
    .map((row, at) =>
      renderFields(
        columns.map(({ title, paint }, index) => ({ title, text: cells[at]?.[index] ?? '', colour: paint?.(row) })),
        terminal,
      ),
    )
    .join('\n\n')
}

export interface ShownField {
  readonly title: string
  readonly text: string
  readonly colour?: Parameters<Terminal['paint']>[0] | undefined
}

/** One thing, a line a field. Empty fields are left out. */
export function renderFields(fields: readonly ShownField[], terminal: Terminal): string {
  const told = fields.filter(({ text }) => text !== '')
  const width = Math.max(0, ...told.map(({ title }) => widthOf(title)))
  const room = terminal.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(8, terminal.columns - width - gap.length)
  return told
    .map(({ title, text, colour }) => {
      const shown = text.split('\n').map((line) => cut(line, room))
      const value = shown.map((line) => (colour ? terminal.paint(colour, line) : line)).join(`\n${' '.repeat(width)}${gap}`)
      return `${terminal.paint('dim', pad(title, width))}${gap}${value}`
    })
    .join('\n')
}
