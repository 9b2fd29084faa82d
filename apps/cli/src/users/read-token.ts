/**
 * A token as people give it: in a file, on standard input, in GITHUB_TOKEN, or typed where nobody sees it. Never as an argument: those are in the list of
 * processes and in the history of the shell.
 */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandError, exit } from '../session/exit.ts'
import type { Session } from '../session/session.ts'

const charsMax = 10_000

export async function readToken(session: Session, file: string | undefined): Promise<string> {
  const token = await findToken(session, file)
  if (token !== undefined) return token
  throw new CommandError(
    exit.usage,
    'NO_TOKEN',
    'There is no token. Set GITHUB_TOKEN, or name a file with --token-file; - reads standard input.',
  )
}

/** Undefined where nobody gave one. */
async function findToken(session: Session, file: string | undefined): Promise<string | undefined> {
  const { stdin, env } = session.process
  if (file === '-') return strip(await readAll(stdin), 'Standard input')
  if (file !== undefined) return strip(readFile(file), file)
  if (env['GITHUB_TOKEN']) return strip(env['GITHUB_TOKEN'], 'GITHUB_TOKEN')
  return stdin.isTTY ? strip(await prompt(session), 'What was typed') : undefined
}

/** Without the end of the line that files and `echo` have. */
function strip(text: string, where: string): string {
  const token = text.trim()
  if (token === '') throw new CommandError(exit.usage, 'NO_TOKEN', `${where} is empty. Put the token there.`)
  return token
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException
    throw new CommandError(exit.usage, 'TOKEN_FILE', `${path} cannot be read (${code}). Correct --token-file.`)
  }
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > charsMax) throw new CommandError(exit.usage, 'TOKEN_FILE', 'Standard input holds more than a token.')
  }
  return text
}

/** What is typed goes nowhere but here. */
async function prompt(session: Session): Promise<string> {
  const { stdin, stderr } = session.process
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  stderr.write('Token (it is not shown): ')
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true })
  try {
    return await reader.question('', { signal: session.interrupted })
  } finally {
    reader.close()
    stderr.write('\n')
  }
}
