/**
 * A question before something that cannot be undone. Where nobody is there to answer, nothing is done.
 */
import { createInterface } from 'node:readline/promises'
import { CommandError, exit } from './exit.ts'
import type { Session } from './session.ts'

/** `otherwise` says how to do it where nobody is there. */
export async function ask(session: Session, question: string, otherwise = 'add --yes'): Promise<void> {
  const { stdin, stderr } = session.process
  if (!stdin.isTTY) throw new CommandError(exit.usage, 'NOT_CONFIRMED', `${question} Nobody is here to answer: ${otherwise}.`)
  const reader = createInterface({ input: stdin, output: stderr })
  const answer = await reader.question(`${question} [y/N] `, { signal: session.interrupted }).finally(() => reader.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(exit.failure, 'NOT_CONFIRMED', 'Nothing was changed.')
}
