/**
 * The configuration: flag before variable before file before default, each value with where it came from.
 *
 * All that is wrong is told at once, each with its place and what to write there. Values of secrets never get into a message.
 */
import { isAbsolute, join, resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import { type Field, type FieldName, fields, fileName, fileVariable } from './fields.ts'
import { nearest } from './nearest.ts'
import { readFile } from './read-file.ts'
import { fromText, schemas, type Values } from './values.ts'

export type Origin =
  | { readonly from: 'flag'; readonly place: string }
  | { readonly from: 'variable'; readonly place: string }
  | { readonly from: 'file'; readonly place: string }
  | { readonly from: 'default'; readonly place: string }

type Optional = 'database' | 'redis' | 'healthPort' | 'masterKey'

export interface Config extends Omit<Values, Optional> {
  readonly database: string | undefined
  readonly redis: string | undefined
  readonly healthPort: number | undefined
  readonly masterKey: string | undefined
  /** Where the command was given. */
  readonly cwd: string
  readonly origins: Readonly<Record<FieldName, Origin>>
  /** Not wrong, but hardly meant: variables that look like ours and are not. */
  readonly warnings: readonly string[]
}

export interface Sources {
  /** By field; what the command line left out is undefined. */
  readonly flags?: Readonly<Partial<Record<FieldName, unknown>>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Instead of `sluice.config.json` in `cwd`. */
  readonly file?: string | undefined
  readonly cwd: string
}

export function readConfig({ flags = {}, env, file, cwd }: Sources): Config {
  const problems: string[] = []
  const inFile = readFile(file ?? env[fileVariable], cwd, problems)
  const given = new Map<FieldName, { value: unknown; origin: Origin }>()
  for (const field of fields) {
    const found = findValue(field, { flags, env, inFile: inFile.values, path: inFile.path, cwd }, problems)
    if (found) given.set(field.name, found)
  }
  const origins = Object.fromEntries(
    fields.map(({ name, fallback }) => [name, given.get(name)?.origin ?? { from: 'default', place: fallback }]),
  ) as Record<FieldName, Origin>
  const value = <Name extends FieldName>(name: Name): Values[Name] | undefined =>
    given.get(name)?.value as Values[Name] | undefined
  const data = value('data') ?? join(cwd, '.sluice')
  const host = value('host') ?? '127.0.0.1'
  if (value('requireKeys') === false && !isLoopback(host))
    problems.push(
      `requireKeys is false (${origins.requireKeys.place}) while host is ${host} (${origins.host.place}): others could do anything. Leave it out, or listen on 127.0.0.1.`,
    )
  if (given.has('masterKey') && given.has('masterKeyFile'))
    problems.push(
      `There are two master keys, ${origins.masterKey.place} and ${origins.masterKeyFile.place}. Leave one of them out.`,
    )
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    database: value('database'),
    redis: value('redis'),
    data,
    host,
    port: value('port') ?? 7070,
    healthPort: value('healthPort'),
    load: value('load') ?? [],
    pools: value('pools') ?? { light: { core: 5, max: 10 }, heavy: { core: 3, max: 5 } },
    requireKeys: value('requireKeys') ?? !isLoopback(host),
    masterKey: value('masterKey'),
    masterKeyFile: value('masterKeyFile') ?? join(data, 'master.key'),
    logLevel: value('logLevel') ?? 'info',
    logFormat: value('logFormat') ?? 'auto',
    keepDays: value('keepDays') ?? 30,
    lease: value('lease') ?? '10s',
    grace: value('grace') ?? '30s',
    githubUrl: value('githubUrl') ?? 'https://api.github.com',
    githubFloor: value('githubFloor') ?? 100,
    collectDaily: value('collectDaily') ?? true,
    cwd,
    origins,
    warnings: strangers(env),
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

interface Where {
  readonly flags: Readonly<Partial<Record<FieldName, unknown>>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly inFile: Readonly<Record<string, unknown>>
  readonly path: string
  readonly cwd: string
}

function findValue(field: Field, where: Where, problems: string[]): { value: unknown; origin: Origin } | undefined {
  const found = look(field, where)
  if (!found) return undefined
  const checked = schemas[field.name].safeParse(found.raw)
  if (!checked.success) {
    const issue = checked.error.issues[0]
    const inside = issue?.path.length ? ` (${issue.path.join('.')})` : ''
    const detail = issue?.code === 'custom' && issue.message !== 'Invalid input' && issue.message ? ` ${issue.message};` : ''
    problems.push(`${found.shown}${inside} is not usable:${detail} write ${field.write}.`)
    return undefined
  }
  return { value: settlePaths(field.name, checked.data, found.base), origin: found.origin }
}

interface Found {
  readonly raw: unknown
  readonly origin: Origin
  /** How the message names it: with its value, unless that is a secret or may hold one. */
  readonly shown: string
  /** Paths are read from here. */
  readonly base: string
}

function look(field: Field, { flags, env, inFile, path, cwd }: Where): Found | undefined {
  const quiet = field.secret || ['database', 'redis', 'githubUrl'].includes(field.name)
  const flag = flags[field.name]
  if (flag !== undefined) {
    const place = field.flag?.split(' ')[0] ?? field.name
    const raw = typeof flag === 'string' ? fromText(field, flag) : flag
    return { raw, origin: { from: 'flag', place }, shown: quiet ? place : `${place} ${shorten(flag)}`, base: cwd }
  }
  const text = env[field.variable]
  if (text !== undefined && text !== '') {
    const place = field.variable
    const shown = quiet ? place : `${place}=${shorten(text)}`
    return { raw: fromText(field, text), origin: { from: 'variable', place }, shown, base: cwd }
  }
  const value = inFile[field.name]
  if (value === undefined) return undefined
  const shown = quiet ? `${field.name} in ${path}` : `${field.name} ${shorten(value)} in ${path}`
  return { raw: value, origin: { from: 'file', place: path }, shown, base: resolve(cwd, path, '..') }
}

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** Paths mean the folder of the file they stand in, or the one the command was given in. Modules may be packages as well. */
function settlePaths(name: FieldName, value: unknown, base: string): unknown {
  if (name === 'data' || name === 'masterKeyFile') return resolve(base, value as string)
  if (name !== 'load') return value
  return (value as string[]).map((one) => (/^\.{0,2}\//.test(one) || isAbsolute(one) ? resolve(base, one) : one))
}

function strangers(env: Sources['env']): string[] {
  const ours = [...fields.map(({ variable }) => variable), fileVariable]
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && !ours.includes(name))
    .toSorted()
    .map((name) => {
      const meant = nearest(name, ours)
      return `${name} is set, but there is no such variable${meant ? `. Did you mean ${meant}?` : `; ${fileName} has the same fields.`}`
    })
}
