/**
 * A kind that nobody registered is a typing error more often than not: whoever named it is told which one may be meant.
 */
import type { Engine } from '@sluice/engine'
import { nearest } from '@sluice/server'
import { CommandError, codeOf, exit } from './exit.ts'

export async function unknownKind(engine: Engine, name: string): Promise<CommandError> {
  const meant = nearest(
    name,
    (await engine.inspect.kinds()).map((kind) => kind.name),
  )
  const hint = meant
    ? `Did you mean ${meant}?`
    : 'Correct the name, or start a process that defines it once. `sluice kinds list` shows those that processes registered.'
  return new CommandError(exit.notFound, 'UNKNOWN_KIND', `There is no kind "${name}". ${hint}`)
}

/** Waits for what was asked, and says more where it fails because of the kind's name. */
export async function withMeantKind<T>(engine: Engine, name: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw codeOf(error) === 'UNKNOWN_KIND' ? await unknownKind(engine, name) : error
  }
}
