/**
 * A payload as people give it: JSON, `@file`, or `-` for standard input.
 */
import { readFileSync } from 'node:fs'
import { CommandError, exit } from './exit.ts'

const bytesMax = 100_000_000

export async function readPayload(given: string | undefined, stdin: NodeJS.ReadStream): Promise<unknown> {
  if (given === undefined) return {}
  const text = given === '-' ? await readAll(stdin) : given.startsWith('@') ? readFile(given.slice(1)) : given
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = given === '-' ? 'Standard input' : given.startsWith('@') ? given.slice(1) : 'The payload'
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    throw new CommandError(
      exit.usage,
      'PAYLOAD_NOT_JSON',
      `${where} is no JSON: ${reason}. Quote it for the shell: '{"to":"ann"}'.`,
    )
  }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError(
      exit.usage,
      'PAYLOAD_FILE',
      `${path} cannot be read (${code ?? 'unknown reason'}). Correct the path after @.`,
    )
  }
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > bytesMax)
      throw new CommandError(exit.usage, 'PAYLOAD_TOO_LARGE', 'Standard input does not end. Give a smaller payload.')
  }
  return text
}
