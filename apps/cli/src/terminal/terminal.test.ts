import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderFields, renderTable } from './table.ts'
import { describeTerminal, type Terminal } from './terminal.ts'
import { cut, pad, plain, plainLines, widthOf, wrap } from './text.ts'
import { exact, relative, span } from './times.ts'

const wide = (columns: number | undefined, env: Record<string, string> = {}): Terminal =>
  describeTerminal({ isTTY: columns !== undefined, ...(columns === undefined ? {} : { columns }) }, { NO_COLOR: '1', ...env })

describe('[O-06] what a stream can show', () => {
  const cases: [sentence: string, isTTY: boolean, env: Record<string, string>, colour: boolean, live: boolean][] = [
    ['a terminal has colours', true, {}, true, true],
    ['a pipe has none', false, {}, false, false],
    ['NO_COLOR takes them away', true, { NO_COLOR: '1' }, false, true],
    ['an empty NO_COLOR does not', true, { NO_COLOR: '' }, true, true],
    ['FORCE_COLOR gives them to a pipe', false, { FORCE_COLOR: '1' }, true, false],
    ['FORCE_COLOR=0 takes them away', true, { FORCE_COLOR: '0' }, false, true],
    ['FORCE_COLOR counts before NO_COLOR', false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
    ['a dumb terminal has neither colours nor bars', true, { TERM: 'dumb' }, false, false],
  ]
  test.for(cases)('[O-06] %s', ([, isTTY, env, colour, live]) => {
    const terminal = describeTerminal({ isTTY, columns: 80 }, env)
    expect([terminal.colour, terminal.live]).toEqual([colour, live])
    expect(terminal.paint('red', 'x') === 'x').toBe(!colour)
  })

  test('[O-06] the width is that of the terminal, else COLUMNS, else none', () => {
    expect(describeTerminal({ isTTY: true, columns: 100 }, { COLUMNS: '50' }).columns).toBe(100)
    expect(describeTerminal({}, { COLUMNS: '50' }).columns).toBe(50)
    expect(describeTerminal({}, {}).columns).toBeUndefined()
    expect(describeTerminal({}, { COLUMNS: 'wide' }).columns).toBeUndefined()
    expect(describeTerminal({ isTTY: true, columns: 3 }, {}).columns).toBe(20)
    expect(describeTerminal({ isTTY: true, columns: 0 }, {}).columns).toBe(80)
  })
})

describe('[O-06] text', () => {
  test('[O-06] nothing that comes from others can steer the terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plain(text)).not.toMatch(/\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u)
        expect(plainLines(text)).not.toMatch(/(?!\n)\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u)
      }),
    )
    expect(plain('a\u001B[2Jb\nc')).toBe('a\\x1b[2Jb c')
  })

  test('[O-06] what is cut fits, what fits is not cut, and padding makes it exactly as wide', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (raw, width) => {
        const text = plain(raw)
        const short = cut(text, width)
        expect(widthOf(short)).toBeLessThanOrEqual(width)
        if (widthOf(text) <= width) expect(short).toBe(text)
        expect(widthOf(pad(short, width))).toBe(width)
      }),
    )
  })

  test('[O-06] wide letters count twice, colours not at all', () => {
    expect([widthOf('abc'), widthOf('日本'), widthOf('한국어'), widthOf('\u001B[31mred\u001B[39m'), widthOf('é')]).toEqual([
      3, 4, 6, 3, 1,
    ])
    expect(cut('日本語', 5)).toBe('日本…')
  })

  test('[O-06] wrapped lines fit and lose no letter', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,15}$/), { minLength: 1 }),
        fc.integer({ min: 3, max: 30 }),
        (words, width) => {
          const lines = wrap(words.join(' '), width)
          for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
          expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
        },
      ),
    )
  })
})

describe('[O-06] tables', () => {
  interface Row {
    readonly id: number
    readonly name: string
    readonly about: string
  }
  const columns = [
    { title: 'id', value: ({ id }: Row) => id, align: 'right' as const },
    { title: 'name', value: ({ name }: Row) => name, spare: true as const },
    { title: 'about', value: ({ about }: Row) => about, least: 6 },
  ]
  const rows: Row[] = [
    { id: 1, name: 'ann', about: 'likes to sing in the morning' },
    { id: 12, name: 'bartholomew', about: 'short' },
  ]

  test('[O-06] columns stand below each other, numbers to the right', () => {
    expect(renderTable(columns, rows, wide(undefined)).split('\n')).toEqual([
      'id  name         about',
      ' 1  ann          likes to sing in the morning',
      '12  bartholomew  short',
    ])
  })

  test('[O-06] on a narrow terminal a column is cut, then one is left out, then each row is a block', () => {
    expect(renderTable(columns, rows, wide(30)).split('\n')[1]).toBe(' 1  ann          likes to sin…')
    expect(renderTable(columns, rows, wide(20)).split('\n')[1]).toBe(' 1  likes to sing i…')
    const long = [{ id: 1, name: 'ann', about: 'x' }].map((row) => ({ ...row, id: 10 ** 20 }))
    expect(renderTable(columns, long, wide(20))).toBe('id     100000000000…\nname   ann\nabout  x')
  })

  test('[O-06] a column that says nothing is left out', () => {
    expect(renderTable(columns, [{ id: 1, name: '', about: 'x' }], wide(undefined))).toBe('id  about\n 1  x')
  })

  test('[O-06] no line is wider than the terminal, whatever is in the rows', () => {
    const row = fc.record({ id: fc.nat(), name: fc.string({ unit: 'grapheme' }), about: fc.string({ unit: 'binary' }) })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 20, max: 120 }), (rows, width) => {
        for (const line of renderTable(columns, rows, wide(width)).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }),
    )
  })

  test('[O-06] fields without a text are left out, and lines of a text stay below each other', () => {
    const fields = [
      { title: 'a', text: 'one\ntwo' },
      { title: 'long', text: 'x' },
      { title: 'none', text: '' },
    ]
    expect(renderFields(fields, wide(undefined))).toBe('a     one\n      two\nlong  x')
  })
})

describe('[O-06] times', () => {
  const now = Date.UTC(2027, 0, 31, 12)
  const at = (ms: number): Date => new Date(now + ms)

  test.for([
    [0, 'now'],
    [-999, 'now'],
    [-5_000, '5s ago'],
    [-90_000, '1m ago'],
    [-7_200_000, '2h ago'],
    [-864_000_000, '10d ago'],
    [61_000, 'in 1m'],
  ] as const)('[O-06] %d ms from now is %s', ([ms, text]) => {
    expect(relative(at(ms), now)).toBe(text)
  })

  test('[O-06] the exact time stands beside it', () => {
    expect(exact(at(-5_000), now)).toBe('2027-01-31T11:59:55Z (5s ago)')
    expect([relative(null, now), exact(undefined, now), relative(new Date(Number.NaN), now)]).toEqual(['', '', ''])
  })

  test('[O-06] spans have two units at most', () => {
    expect([0, 999, 1_000, 61_000, 3_600_000, 5_400_000, 90_000_000, 864_000_000].map(span)).toEqual([
      '0ms',
      '999ms',
      '1s',
      '1m 1s',
      '1h',
      '1h 30m',
      '1d 1h',
      '10d',
    ])
  })
})
