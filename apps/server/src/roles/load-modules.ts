/**
 * Modules of the user: they export kinds, runs, schedules, events, lanes and services, by name or in an object as their default.
 *
 * What is wrong with one is told when the process starts, with the module's name, not when the first job needs it.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyEvent, AnyKind, LaneLimits, RunKind, Schedule } from '@sluice/engine'
import { nearest } from '../config/nearest.ts'
import type { Config } from '../config/read-config.ts'
import { RoleError } from './errors.ts'

export interface Loaded {
  readonly kinds: readonly AnyKind[]
  readonly runs: readonly RunKind[]
  readonly schedules: readonly Schedule[]
  readonly events: readonly AnyEvent[]
  readonly lanes: Readonly<Record<string, LaneLimits>>
  readonly services: Readonly<Record<string, unknown>>
}

const lists = ['kinds', 'runs', 'schedules', 'events'] as const
const maps = ['lanes', 'services'] as const
const parts: readonly string[] = [...lists, ...maps]

/** How one of each can be told, and what makes one. Modules may have a copy of the engine of their own, so no instance is asked for. */
const marks: Readonly<Record<(typeof lists)[number], { fits: (one: unknown) => boolean; maker: string }>> = {
  kinds: { fits: (one) => typeof one === 'function' && 'kindName' in one && !('kinds' in one), maker: 'defineKind' },
  runs: { fits: (one) => typeof one === 'function' && 'kindName' in one && 'kinds' in one, maker: 'defineRun' },
  schedules: { fits: (one) => typeof one === 'object' && one !== null && 'jitterMs' in one, maker: 'defineSchedule' },
  events: { fits: (one) => typeof one === 'function' && 'eventName' in one, maker: 'defineEvent' },
}

export async function loadModules({ load, cwd, origins }: Pick<Config, 'load' | 'cwd' | 'origins'>): Promise<Loaded> {
  const all: Record<string, unknown>[] = []
  const names = load.map((module) => nameOf(module, cwd))
  for (const [index, module] of load.entries()) {
    const file = find(module, cwd)
    const name = names[index] ?? module
    if (file === undefined) throw new RoleError('MODULE_NOT_FOUND', { module: name, place: origins.load.place })
    all.push(partsOf(name, await importModule(name, file)))
  }
  const together = (name: string): unknown[] => all.flatMap((one) => (one[name] as unknown[] | undefined) ?? [])
  const merged = (name: string): Record<string, unknown> => {
    const result: Record<string, unknown> = {}
    for (const [index, one] of all.entries())
      for (const [key, value] of Object.entries((one[name] as object | undefined) ?? {})) {
        if (key in result)
          throw wrong(names[index] ?? '', `another module has ${name}.${key} already; give it another name in one of them`)
        result[key] = value
      }
    return result
  }
  return {
    kinds: together('kinds') as AnyKind[],
    runs: together('runs') as RunKind[],
    schedules: together('schedules') as Schedule[],
    events: together('events') as AnyEvent[],
    lanes: merged('lanes') as Record<string, LaneLimits>,
    services: merged('services'),
  }
}

async function importModule(module: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (error) {
    throw new RoleError('MODULE_BROKEN', { module, reason: reasonOf(error, file) }, error)
  }
}

/** As people know it: relative, when it lies below where they are. */
function nameOf(module: string, cwd: string): string {
  const inside = relative(cwd, module)
  return isAbsolute(module) && !inside.startsWith('..') ? inside : module
}

/** A path, or a package that is installed where the command was given. */
function find(module: string, cwd: string): string | undefined {
  if (isAbsolute(module)) return existsSync(module) ? module : undefined
  if (existsSync(join(cwd, module))) return join(cwd, module)
  try {
    return createRequire(join(cwd, 'package.json')).resolve(module)
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown, file: string): string {
  const { code } = error as { code?: string }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || /\.[cm]?tsx?$/.test(file))
    return 'Node runs JavaScript; compile it and name the .js file'
  if (code === 'ERR_UNSUPPORTED_DIR_IMPORT') return 'it is a folder; name the file in it'
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return message.replace(/\.$/, '')
}

function partsOf(module: string, exported: Record<string, unknown>): Record<string, unknown> {
  const { default: given, ...named } = exported
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (isObject) refuseStrangers(module, Object.keys(given))
  const found = { ...(isObject ? given : {}), ...named } as Record<string, unknown>
  const known = parts.filter((name) => found[name] !== undefined)
  if (known.length === 0) {
    const meant = Object.keys(found).flatMap((name) => nearest(name, parts) ?? [])[0]
    throw wrong(module, `it exports none of ${parts.join(', ')}${meant ? `; did you mean ${meant}` : ''}`)
  }
  for (const name of lists) if (known.includes(name)) checkList(module, name, found[name])
  for (const name of maps)
    if (known.includes(name) && (typeof found[name] !== 'object' || Array.isArray(found[name])))
      throw wrong(module, `${name} is no object`)
  return Object.fromEntries(known.map((name) => [name, found[name]]))
}

function refuseStrangers(module: string, keys: readonly string[]): void {
  for (const key of keys) {
    if (parts.includes(key)) continue
    const meant = nearest(key, parts)
    throw wrong(
      module,
      `its default export has "${key}", ${meant ? `did you mean ${meant}` : `which is none of ${parts.join(', ')}`}`,
    )
  }
}

function checkList(module: string, name: (typeof lists)[number], value: unknown): void {
  if (!Array.isArray(value)) throw wrong(module, `${name} is no list; write [${name.slice(0, -1)}, …]`)
  const { fits, maker } = marks[name]
  for (const [index, one] of value.entries()) if (!fits(one)) throw wrong(module, `${name}[${index}] was not made with ${maker}`)
}

function wrong(module: string, problem: string): RoleError {
  return new RoleError('MODULE_WRONG', { module, problem })
}
