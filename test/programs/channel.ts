/**
 * How a program of a test talks with the test that started it: settings in its environment, lines out, messages in.
 *
 * A line is written synchronously, so that it is out before a program kills itself. The channel for messages does not keep a program alive,
 * and a program whose test has gone ends.
 */
import { writeSync } from 'node:fs'

export const settings = JSON.parse(process.env.SETTINGS ?? '{}') as Record<string, unknown> & { database: string }

export function say(line: Record<string, unknown>): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

export function onTold(act: (message: Record<string, unknown>) => void): void {
  process.on('message', (message) => act(message as Record<string, unknown>))
  process.channel?.unref()
}

process.once('disconnect', () => process.exit())
process.channel?.unref()
