/**
 * Takes a new master key into use, in two steps: first every process gets it, then everything is sealed with it. In one step, processes that run could
 * not open what was sealed meanwhile.
 */
import { addMasterKey } from '@sluice/engine'
import { CommandError, exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'
import { plain } from '../terminal/text.ts'

export async function rotateMasterKey({ session, options }: Call): Promise<number> {
  const { masterKey, masterKeyFile: file } = await session.config()
  const { output } = session
  if (options['new'] === true) {
    if (masterKey !== undefined)
      throw new CommandError(
        exit.usage,
        'MASTER_KEY_IN_VARIABLE',
        'The master key comes from SLUICE_MASTER_KEY. Put a new one before it there, with a comma between, and start all processes again.',
      )
    await addMasterKey(file)
    output.answer(
      { file, added: true },
      () => `${file} begins with a new key. Start all processes again, then: sluice keys rotate`,
    )
    return exit.ok
  }
  const { engine } = await session.system({ secrets: true })
  const { keyId, resealed, left, unreadable } = await engine.secrets.rotate()
  output.answer({ keyId, resealed, left, unreadable }, () => `${resealed} sealed anew under ${keyId}, ${left} left.`)
  for (const { name, code } of unreadable) output.warn(`${plain(name)} cannot be opened: ${code}`)
  if (left === 0 && resealed > 0) output.say('Older keys can go.')
  return left === 0 ? exit.ok : exit.failure
}
