/**
 * The command line: finds the command, does it, and leaves with the code that says how it went. Errors are a sentence and what to do; stacks are
 * for `--debug`.
 */
import { readFileSync } from 'node:fs'
import { CommanderError, InvalidArgumentError } from 'commander'
import { tree } from './commands.ts'
import { CommandError, codeOf, exit, exitCodeOf } from './session/exit.ts'
import { Output } from './session/output.ts'
import { buildProgram, type Perform } from './session/program.ts'
import type { Ended } from './session/record-deed.ts'
import { Session } from './session/session.ts'
import { stopOnSignal } from './session/stop-on-signal.ts'

/**
 * `pg` asks `navigator` whether it runs in a worker of Cloudflare. Node has one since version 21; where there is none, `pg` makes a `Response` to find
 * out, which loads Node's whole HTTP client: a tenth of a quick command.
 */
if (!('navigator' in globalThis)) Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Node.js' } })

export async function main(process: NodeJS.Process): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  let code: number = exit.ok
  let current: Session | undefined
  // Whoever read us has had enough: nothing is left to be said.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exit.ok : exit.failure))
  const ending = new AbortController()
  const perform: Perform = async (leaf, args, options) => {
    current = new Session(process, options, ending.signal)
    const act = await leaf.load()
    stopOnSignal(process, ending, current)
    const call = { args, options, session: current }
    const record = async (ended: Ended): Promise<void> => {
      if (leaf.deed) await (await import('./session/record-deed.ts')).recordDeed(leaf, call, ended)
    }
    const ended = await act({ ...call, program }).catch(async (error: unknown) => {
      await record({ error })
      throw error
    })
    code = ended ?? exit.ok
    await record({ code })
  }
  const program = buildProgram(tree, version, perform, process.argv.includes('--json'))
  try {
    if (process.argv.length <= 2) program.outputHelp()
    else await program.parseAsync(process.argv)
  } catch (error) {
    code = isTold(error) ? (error.exitCode === 0 ? exit.ok : exit.usage) : complain(error, process, current)
    if (ending.signal.aborted) code = exit.interrupted
  }
  await current?.end().catch((error: unknown) => {
    code = complain(error, process, current)
  })
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
  if (current?.leaving) return // ends the process by itself
  // Modules of the user may have left something open; the command is over all the same.
  process.exit(code)
}

/** Commander has said what was wrong before it threw. What a reader throws inside a command has not been said yet. */
function isTold(error: unknown): error is CommanderError {
  return error instanceof CommanderError && !(error instanceof InvalidArgumentError)
}

function complain(error: unknown, process: NodeJS.Process, session: Session | undefined): number {
  if (session?.leaving) return exit.interrupted // what breaks because its database goes is no news
  const output = session?.output ?? new Output(process, { json: false })
  const message = error instanceof Error ? error.message || error.name : String(error)
  if (output.json) output.say(JSON.stringify({ error: { code: codeOf(error) ?? 'UNEXPECTED', message } }))
  else output.error(message)
  if (session?.debug && error instanceof Error && !(error instanceof CommandError)) output.say(error.stack ?? '')
  return exitCodeOf(error)
}
