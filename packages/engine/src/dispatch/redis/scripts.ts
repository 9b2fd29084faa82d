/**
 * The Lua scripts of this dispatcher, by name. Each is loaded once into a client and sent by its hash from then on. Their keys lie in one slot of a cluster,
 * because the prefix carries the pool as a hash tag.
 */
import { readFileSync } from 'node:fs'
import type { Client } from './connection.ts'

const names = [
  'offer',
  'take',
  'give-back',
  'adopt',
  'acknowledge',
  'acknowledge-open',
  'refuse',
  'copy-lanes',
  'move-due',
  'take-over',
  'lead',
  'resign',
  'measure',
] as const
export type ScriptName = (typeof names)[number]

/** Beside the sources, also for the build. */
const folder = new URL('../../../src/dispatch/redis/lua/', import.meta.url)

export function loadScripts(client: Client): void {
  const read = (name: string): string => readFileSync(new URL(`${name}.lua`, folder), 'utf8')
  const prelude = read('prelude')
  for (const name of names) client.defineCommand(commandOf(name), { numberOfKeys: 1, lua: `${prelude}\n${read(name)}` })
}

/** `prefix` is that of the pool. */
export async function runScript<T>(
  client: Client,
  name: ScriptName,
  prefix: string,
  args: readonly (string | number)[],
): Promise<T> {
  const commands = client as unknown as Record<string, (...words: (string | number)[]) => Promise<T>>
  return (commands[commandOf(name)] as (...words: (string | number)[]) => Promise<T>)(`${prefix}known`, prefix, ...args)
}

function commandOf(name: ScriptName): string {
  return `sluice_${name.replace('-', '_')}`
}
