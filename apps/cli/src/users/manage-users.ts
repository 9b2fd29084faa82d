/**
 * Users to register, to give a new token, to forget.
 */
import { ask } from '../session/ask.ts'
import type { Call } from '../session/tree.ts'
import { plain } from '../terminal/text.ts'
import { findUser } from './find-user.ts'
import { readToken } from './read-token.ts'

export async function addUser({ session, args: [login = ''], options }: Call): Promise<void> {
  const token = await readToken(session, options['tokenFile'] as string | undefined)
  const { collector } = await session.system({ collects: true, secrets: true })
  const collect = options['collect'] !== false
  const user = await collector.users.register({ login, token, collect })
  session.output.answer(user, () =>
    collect
      ? `${plain(user.login)} is registered and will be collected. \`sluice collect ${plain(user.login)}\` shows how far it is.`
      : `${plain(user.login)} is registered. \`sluice collect ${plain(user.login)}\` collects.`,
  )
}

export async function rotateToken({ session, args: [login = ''], options }: Call): Promise<void> {
  const token = await readToken(session, options['tokenFile'] as string | undefined)
  const { collector } = await session.system({ collects: true, secrets: true })
  const before = await findUser(collector, login)
  const user = await collector.users.rotateToken(before.id, token, { move: options['move'] === true })
  session.output.answer(user, () =>
    before.tokenState === 'refused'
      ? `${plain(user.login)} has a new token; what waited for it goes on.`
      : `${plain(user.login)} has a new token.`,
  )
}

export async function removeUser({ session, args: [login = ''], options }: Call): Promise<void> {
  const { collector } = await session.system({ collects: true, secrets: true })
  const user = await findUser(collector, login)
  if (options['yes'] !== true) await ask(session, `Forget ${plain(user.login)} and all that was collected?`)
  await collector.users.remove(user.id)
  session.output.answer({ id: user.id, login: user.login, removed: true }, () => `${plain(user.login)} is forgotten.`)
}
