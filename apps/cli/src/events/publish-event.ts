/**
 * Publishes an event from outside. The database knows which names exist and who subscribes.
 */
import type { Call } from '../session/tree.ts'

export async function publishEvent({ session, args: [event = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  const owner = options['owner'] as string | undefined
  const { id } = await engine.publish({
    event,
    payload: options['payload'] ?? {},
    ...(owner === undefined ? {} : { options: { owner } }),
  })
  session.output.answer({ id, event }, () => `Event ${id} is published.`)
}
