/**
 * The command tree as commander knows it, made from the nouns. Nothing heavy is imported before a command acts.
 */
import { Command, Option } from 'commander'
import { usageCode } from './exit.ts'
import type { Choice, Leaf, Noun } from './tree.ts'

export interface Tree {
  readonly nouns: readonly Noun[]
  /** Commands without a noun: up, status, doctor. */
  readonly verbs: readonly (Leaf & { readonly group: string })[]
}

export type Perform = (leaf: Leaf, args: readonly string[], options: Record<string, unknown>) => Promise<void>

const exitHelp = 'Exit codes: 0 ok, 1 failure, 2 usage, 3 not found, 4 conflict, 5 unavailable, 130 interrupted.'

export function buildProgram({ nouns, verbs }: Tree, version: string, perform: Perform, json = false): Command {
  const say = (text: string): string => keepTokens(text) ?? nameNouns(nameHealthPort(text), nouns)
  const program = new Command('sluice')
    .description('A durable work engine on PostgreSQL.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: (text, write) => write(json ? asDocument(say(text)) : say(text)) })
    .exitOverride()
    .option('--database <url>', 'address of PostgreSQL (DATABASE_URL)')
    .option('--data <folder>', 'folder of the local PostgreSQL (SLUICE_DATA, default .sluice)')
    .option('--config <path>', 'configuration file (SLUICE_CONFIG, default sluice.config.json)')
    .option('--json', 'answer with one JSON document')
    .option('--debug', 'show stacks and what the engine says')
    .addHelpText(
      'after',
      `
Examples:
  $ sluice up                                    # all of it, with a PostgreSQL of its own
  $ sluice jobs enqueue sluice.ping --wait       # a first job
  $ sluice status --watch                        # what goes on
  $ GITHUB_TOKEN=… sluice collect octocat        # what somebody does on GitHub

${exitHelp}`,
    )
  for (const leaf of verbs) addLeaf(program.commandsGroup(leaf.group), leaf, perform)
  for (const { name, about, leaves } of nouns) {
    const noun = program.commandsGroup('Look and steer:').command(name).description(about).usage('<command> [options]')
    for (const leaf of leaves) addLeaf(noun, leaf, perform)
    noun.addHelpText('after', `\n${examplesText(leaves.slice(0, 3).flatMap(({ examples }) => examples.slice(0, 1)))}`)
  }
  return program
}

function asDocument(text: string): string {
  return `${JSON.stringify({ error: { code: usageCode, message: text.replace(/^error: /, '').trim() } })}\n`
}

/** Whoever gives a token as an option means well; what they gave is not repeated. */
function keepTokens(text: string): string | undefined {
  if (!/^error: unknown option '--token(?:=|')/.test(text)) return undefined
  return [
    'error: A token is no argument: it stays in the history of the shell, and everybody on this machine can read it while the command runs.',
    'Take it out of the history, or better make a new one. Then set GITHUB_TOKEN, or hand it in on standard input:',
    '  gh auth token | sluice users rotate LOGIN --token-file -',
    '',
  ].join('\n')
}

/** A role without an API has another port, which is spelled less alike than its host. */
function nameHealthPort(text: string): string {
  return text.replace(/^(error: unknown option '--port'\n\(Did you mean )--host/, '$1--health-port')
}

/** `sluice enqueue` lacks its noun: nothing is spelled like it, but there is a command of that name. */
function nameNouns(text: string, nouns: readonly Noun[]): string {
  const unknown = /^error: unknown command '(.+)'/.exec(text)?.[1]
  const meant = nouns
    .filter(({ leaves }) => leaves.some(({ usage, aliases = [] }) => [usage.split(' ')[0], ...aliases].includes(unknown)))
    .map(({ name }) => `${name} ${unknown}`)
  if (meant.length === 0) return text
  return `error: unknown command '${unknown}'\n(Did you mean ${meant.length === 1 ? '' : 'one of '}${meant.join(', ')}?)\n`
}

function addLeaf(parent: Command, leaf: Leaf, perform: Perform): void {
  const command = parent.command(leaf.usage).description(leaf.about)
  for (const alias of leaf.aliases ?? []) command.alias(alias)
  for (const choice of leaf.choices ?? []) command.addOption(optionOf(choice))
  command.addHelpText('after', `\n${leaf.note ? `${leaf.note}\n\n` : ''}${examplesText(leaf.examples)}`)
  command.action(async (...given: unknown[]) => {
    const args = given
      .slice(0, -2)
      .flat()
      .filter((one): one is string => typeof one === 'string')
    await perform(leaf, args, command.optsWithGlobals())
  })
}

function optionOf({ flags, about, read, words, repeats }: Choice): Option {
  const option = new Option(flags, about)
  if (words) option.argChoices = [...words] // for help and completion; `read` checks
  if (read) option.argParser(read)
  if (repeats) option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
  return option
}

function examplesText(examples: Leaf['examples']): string {
  const width = Math.max(...examples.map(([command]) => command.length))
  return ['Examples:', ...examples.map(([command, about]) => `  $ ${command.padEnd(width)}  # ${about}`)].join('\n')
}
