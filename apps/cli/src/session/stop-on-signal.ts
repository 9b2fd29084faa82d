/**
 * What signals do: the first ends the command in order, the second at once but for jobs that are handed back and a local PostgreSQL that would be left running, the
 * third at once.
 */
import { exit } from './exit.ts'
import type { Session } from './session.ts'

export function stopOnSignal(
  process: Pick<NodeJS.Process, 'on' | 'exit'>,
  ending: AbortController,
  session: Pick<Session, 'stopsInOrder' | 'leaving' | 'end' | 'leave'>,
): void {
  const quit = (): void => process.exit(exit.interrupted)
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      if (session.leaving) return quit()
      if (ending.signal.aborted) return void session.leave().then(quit)
      ending.abort(name)
      // Commands that can stop in order listen to the signal; for the others the end is now.
      if (session.stopsInOrder) return
      const over = (): void => {
        if (!session.leaving) quit()
      }
      void session.end().then(over, over)
    })
}
