/** Lines of an export: JSON that reads back, CSV that every reader takes and no spreadsheet runs. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openingLine, writeLine } from './line.ts'
import type { Column } from './sources.ts'

const columns: Column[] = [
  { name: 'id', sort: 'number' },
  { name: 'title', sort: 'text' },
  { name: 'open', sort: 'truth' },
  { name: 'at', sort: 'time' },
  { name: 'payload', sort: 'json' },
]
const row = { id: -5, title: 'a', open: false, at: new Date('2026-01-01T00:00:00Z'), payload: { a: 1 } }
const title = (text: string): string => writeLine('csv', [{ name: 'title', sort: 'text' }], { title: text })

describe('[C-15] CSV', () => {
  test('[C-15] has a header, ends lines as RFC 4180 says, and leaves numbers and times alone', () => {
    expect(openingLine('csv', columns)).toBe('id,title,open,at,payload\r\n')
    expect(writeLine('csv', columns, row)).toBe('-5,a,false,2026-01-01T00:00:00.000Z,"{""a"":1}"\r\n')
  })

  test.for([
    ['a comma', 'a,b', '"a,b"'],
    ['a quote', 'say "hi"', '"say ""hi"""'],
    ['a line break', 'a\nb', '"a\nb"'],
    ['nothing', '', '""'],
    ['a formula', '=1+1', "'=1+1"],
    ['a plus', '+1', "'+1"],
    ['a minus', '-1', "'-1"],
    ['an at', '@SUM(A1)', "'@SUM(A1)"],
    ['a tab before a formula', '\t=1', "'\t=1"],
    ['a return before a formula', '\r=1', '"\'\r=1"'],
    ['a formula with a comma', '=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    ['an equals sign further on', 'a=b', 'a=b'],
  ] as const)('[C-15] %s', ([, text, written]) => {
    expect(title(text)).toBe(`${written}\r\n`)
  })

  test('[C-15] what is not known is empty, and differs from an empty text', () => {
    expect(writeLine('csv', columns, { id: 1, title: null })).toBe('1,,,,\r\n')
  })

  test('[C-15] whatever is written is read back by the rules of RFC 4180', () => {
    const text = fc.string({ unit: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', ',', '\r\n', '\n', '=', '-')) })
    const three: Column[] = ['a', 'b', 'c'].map((name) => ({ name, sort: 'text' }))
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 5 }), (rows) => {
        const written = rows.map(([a, b, c]) => writeLine('csv', three, { a, b, c })).join('')
        const disarmed = rows.map((fields) => fields.map((field) => (/^[=+\-@\t\r]/.test(field) ? `'${field}` : field)))
        expect(readCsv(written)).toEqual(disarmed)
      }),
    )
  })
})

describe('[C-15] JSON Lines', () => {
  test('[C-15] have no header, one line a row, in the order of the columns, and read back', () => {
    expect(openingLine('jsonl', columns)).toBe('')
    const line = writeLine('jsonl', columns, { ...row, title: '=a\n"b"\u2028' })
    expect(line.trimEnd()).not.toContain('\n')
    expect(Object.keys(JSON.parse(line))).toEqual(['id', 'title', 'open', 'at', 'payload'])
    expect(JSON.parse(line)).toEqual({ ...row, title: '=a\n"b"\u2028', at: '2026-01-01T00:00:00.000Z' })
    expect(JSON.parse(writeLine('jsonl', columns, { id: 1 }))).toEqual({
      id: 1,
      title: null,
      open: null,
      at: null,
      payload: null,
    })
  })
})

/** A reader by the grammar of RFC 4180, written apart from the writer. */
function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let [fields, field, quoted, i]: [string[], string, boolean, number] = [[], '', false, 0]
  while (i < text.length) {
    const sign = text[i] as string
    if (quoted && sign === '"' && text[i + 1] === '"') [field, i] = [`${field}"`, i + 2]
    else if (sign === '"') [quoted, i] = [!quoted, i + 1]
    else if (!quoted && sign === ',') [fields, field, i] = [[...fields, field], '', i + 1]
    else if (!quoted && text.startsWith('\r\n', i)) {
      rows.push([...fields, field])
      ;[fields, field, i] = [[], '', i + 2]
    } else [field, i] = [field + sign, i + 1]
  }
  return rows
}
