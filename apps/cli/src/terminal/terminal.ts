/**
 * What a stream can show: colours, how wide it is, whether somebody looks at it while it changes.
 *
 * NO_COLOR, FORCE_COLOR, TERM=dumb and COLUMNS are obeyed. FORCE_COLOR is the more explicit wish and counts first.
 */
/** How each begins and ends. */
const codes = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
} as const

export type Colour = keyof typeof codes

export interface Terminal {
  readonly colour: boolean
  /** Nothing when it is no terminal: then nothing is cut. */
  readonly columns: number | undefined
  /** Somebody looks: bars and live pages make sense. */
  readonly live: boolean
  paint(colour: Colour, text: string): string
}

export interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
}

type Environment = Readonly<Record<string, string | undefined>>

const columnsMin = 20

/** For terminals that say they have no size: those of some containers and serial lines. */
export const usual = { columns: 80, rows: 24 } as const

export function describeTerminal(stream: Stream, env: Environment): Terminal {
  const colour = hasColour(stream, env)
  const asked = Number(env['COLUMNS'])
  const said = stream.columns === 0 ? usual.columns : stream.columns
  const columns = stream.isTTY ? said : Number.isInteger(asked) && asked > 0 ? asked : undefined
  return {
    colour,
    columns: columns === undefined ? undefined : Math.max(columnsMin, columns),
    live: !!stream.isTTY && env['TERM'] !== 'dumb',
    paint: (name, text) => (colour && text !== '' ? `\u001B[${codes[name][0]}m${text}\u001B[${codes[name][1]}m` : text),
  }
}

function hasColour({ isTTY }: Stream, env: Environment): boolean {
  const forced = env['FORCE_COLOR']
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  if (env['NO_COLOR']) return false
  return !!isTTY && env['TERM'] !== 'dumb'
}
