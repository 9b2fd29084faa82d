/**
 * Completion for bash, zsh and fish, generated from the command tree: whatever the tree has, the shell offers.
 *
 * The scripts hold the words themselves and start no process, so that Tab answers at once.
 */
import type { Command, Option } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A place in the tree: what may come next there. */
interface Place {
  /** `jobs list`; empty for the top. */
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly about: string }[]
  readonly options: readonly {
    readonly flag: string
    readonly about: string
    readonly takesValue: boolean
    readonly words: readonly string[]
  }[]
}

export function completionScript(shell: Shell, program: Command): string {
  const places = placesIn(program)
  switch (shell) {
    case 'bash':
      return bash(places)
    case 'zsh':
      return zsh(places)
    case 'fish':
      return fish(places)
  }
}

function placesIn(command: Command, path: readonly string[] = [], inherited: readonly Option[] = []): Place[] {
  const own = command.options.filter(({ hidden }) => !hidden)
  const options = [...own, ...inherited].flatMap((option) =>
    [option.long, option.short]
      .filter((flag) => flag !== undefined)
      .map((flag) => ({
        flag,
        about: option.description,
        takesValue: option.required || option.optional,
        words: option.argChoices ?? [],
      })),
  )
  const here: Place = {
    path: path.join(' '),
    commands: command.commands.map((one) => ({ name: one.name(), about: one.description() })),
    options: [...options, { flag: '--help', about: 'show help', takesValue: false, words: [] }],
  }
  const handedDown = path.length === 0 ? own.filter(({ long }) => long !== '--version') : inherited
  return [here, ...command.commands.flatMap((one) => placesIn(one, [...path, one.name()], handedDown))]
}

function bash(places: readonly Place[]): string {
  const rows = places.map(({ path, commands, options }) => {
    const words = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(' ')
    return `    '${path}') words='${words}' ;;`
  })
  const values = new Set(places.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).map(({ flag }) => flag)))
  const chosen = choicesIn(places).map(
    ([path, flag, words]) => `    '${path} ${flag}') COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$current")); return ;;`,
  )
  return `# bash completion for sluice. Put into ~/.bashrc:  source <(sluice completion bash)
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case " ${[...values].join(' ')} " in *" $word "*) ((index++)); continue ;; esac
    case "$word" in -*) continue ;; esac
    case "$path $word" in
${places
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${path.includes(' ') ? path : ` ${path}`}') path='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$path $previous" in
${chosen.length > 0 ? chosen.join('\n') : `    '') ;;`}
  esac
  case " ${[...values].join(' ')} " in *" $previous "*) COMPREPLY=($(compgen -f -- "$current")); return ;; esac
  case "$path" in
${rows.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _sluice sluice
`
}

function zsh(places: readonly Place[]): string {
  const quote = (text: string): string =>
    text.replaceAll("'", "'\\''").replaceAll(':', '\\:').replaceAll('[', '\\[').replaceAll(']', '\\]')
  const rows = places.map(({ path, commands, options }) => {
    const words = [
      ...commands.map(({ name, about }) => `'${name}:${quote(about)}'`),
      ...options.map(({ flag, about }) => `'${flag}:${quote(about)}'`),
    ]
    return `    '${path}') offers=(${words.join(' ')}) ;;`
  })
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  return `#compdef sluice
# zsh completion for sluice. Put into ~/.zshrc:  source <(sluice completion zsh)
_sluice() {
  local place='' word
  local -a offers known
  known=(${paths.join(' ')})
  for word in \${words[2,CURRENT-1]}; do
    [[ -n \${known[(r)\${place:+$place }$word]} ]] && place="\${place:+$place }$word"
  done
  case "$place" in
${rows.join('\n')}
  esac
  _describe 'sluice' offers
}
compdef _sluice sluice
`
}

function fish(places: readonly Place[]): string {
  const quote = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  const lines = places.flatMap(({ path, commands, options }) => {
    const when = `-n '__sluice_at "${path}"'`
    return [
      ...commands.map(({ name, about }) => `complete -c sluice -f ${when} -a '${name}' -d '${quote(about)}'`),
      ...options.map(({ flag, about, takesValue, words }) => {
        const name = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
        const value = takesValue ? (words.length > 0 ? ` -x -a '${words.join(' ')}'` : ' -r') : ''
        return `complete -c sluice ${when} ${name}${value} -d '${quote(about)}'`
      }),
    ]
  })
  return `# fish completion for sluice. Put into ~/.config/fish/completions/sluice.fish
function __sluice_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l place
  for word in $words
    string match -q -- '-*' $word; and continue
    contains -- (string join ' ' $place $word) ${places
      .filter(({ path }) => path !== '')
      .map(({ path }) => `'${path}'`)
      .join(' ')}; and set place $place $word
  end
  test (string join ' ' $place) = $argv[1]
end
${lines.join('\n')}
`
}

function choicesIn(places: readonly Place[]): [path: string, flag: string, words: readonly string[]][] {
  return places.flatMap(({ path, options }) =>
    options
      .filter(({ words }) => words.length > 0)
      .map(({ flag, words }): [string, string, readonly string[]] => [path, flag, words]),
  )
}
