/**
 * Waits until it is told, migrates its database, says what it applied or why it could not, and ends.
 */
import { migrate } from '@sluice/engine'
import { onTold, say, settings } from './channel.ts'

const told = new Promise<void>((resolve) => onTold(() => resolve()))
process.channel?.ref()
say({ waits: true })
await told

try {
  say({ ...(await migrate(settings.database)) })
} catch (error) {
  say({ error: String(error) })
  process.exitCode = 1
}
process.disconnect()
