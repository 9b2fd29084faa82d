/**
 * A user by login, or by GitHub's id of the account.
 */
import type { Collector, User } from '@sluice/collector'
import { CommandError, exit } from '../session/exit.ts'
import { plain } from '../terminal/text.ts'

export async function findUser(collector: Collector, text: string): Promise<User> {
  const user =
    (await collector.users.find(text)) ?? (/^\d{1,15}$/.test(text) ? await collector.users.find(Number(text)) : undefined)
  if (user) return user
  throw new CommandError(
    exit.notFound,
    'UNKNOWN_USER',
    `Nobody is registered as "${plain(text)}". \`sluice users list\` shows who is; \`GITHUB_TOKEN=… sluice collect ${plain(text)}\` registers and collects.`,
  )
}
