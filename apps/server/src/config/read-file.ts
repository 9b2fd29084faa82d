/**
 * The file of the configuration: a JSON object with the fields of fields.ts. Whatever else it holds is refused, because a field with a typing error
 * would be left out without a word.
 */
import { readFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { fields, fileName } from './fields.ts'
import { nearest } from './nearest.ts'

export interface ConfigFile {
  /** As messages name it: relative to where the command was given, when it lies below. */
  readonly path: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Names that editors and people use in JSON, which mean nothing to us. */
const harmless = new Set(['$schema'])

export function readFile(asked: string | undefined, cwd: string, problems: string[]): ConfigFile {
  const path = nameOf(asked || fileName, cwd)
  const text = readText(isAbsolute(path) ? path : join(cwd, path), { path, mustExist: !!asked }, problems)
  if (text === undefined) return { path, values: {} }
  const values = parse(text, path, problems)
  const known = fields.filter(({ secret }) => !secret).map(({ name }) => name as string)
  for (const key of Object.keys(values)) {
    if (known.includes(key) || harmless.has(key)) continue
    const secret = fields.find(({ name, secret }) => secret && name === key)
    const meant = nearest(key, known)
    if (secret) problems.push(`${key} does not belong into ${path}, which others read. Set ${secret.variable}, or use a file.`)
    else if (meant) problems.push(`${key} in ${path} is no field. Did you mean ${meant}?`)
    else problems.push(`${key} in ${path} is no field. There are: ${known.join(', ')}.`)
  }
  return { path, values: Object.fromEntries(Object.entries(values).filter(([key]) => known.includes(key))) }
}

function nameOf(path: string, cwd: string): string {
  const inside = relative(cwd, isAbsolute(path) ? path : join(cwd, path))
  return inside.startsWith('..') ? path : inside
}

function readText(
  file: string,
  { path, mustExist }: { path: string; mustExist: boolean },
  problems: string[],
): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !mustExist) return undefined
    const reason =
      code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : `it cannot be read (${code})`
    problems.push(`${path}: ${reason}. Correct --config or SLUICE_CONFIG, or leave it out.`)
    return undefined
  }
}

function parse(text: string, path: string, problems: string[]): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    problems.push(`${path} holds no object. Write { "port": 7070 } and the like.`)
  } catch (error) {
    problems.push(`${path} is no JSON${placeOf(error, text)}. Names and texts have double quotes; no comma comes last.`)
  }
  return {}
}

function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  if (position === undefined) return ''
  const before = text.slice(0, Number(position)).split('\n')
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
