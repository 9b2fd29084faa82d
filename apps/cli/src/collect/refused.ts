/**
 * The end of a command whose user GitHub no longer knows: what to do, so that the collection goes on where it stopped.
 */
import type { User } from '@sluice/collector'
import { CommandError, exit } from '../session/exit.ts'
import { plain } from '../terminal/text.ts'

export function refused({ login, tokenRefusal }: User): CommandError {
  const said = tokenRefusal ? ` (${plain(tokenRefusal)})` : ''
  return new CommandError(
    exit.failure,
    'TOKEN_REFUSED',
    `GitHub refuses the token of ${plain(login)}${said}, so its collection waits. Set GITHUB_TOKEN to a new one and run this again, or \`sluice users rotate ${plain(login)}\`.`,
  )
}
