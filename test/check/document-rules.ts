/**
 * Keeps documents true: each function compares a document with the thing it describes and returns what differs.
 *
 * The formats are read leniently (a code is a back-ticked word in a heading or in the first cell of a row, a guarantee is a
 * row with a back-ticked path and a quoted title), so that documents can be written for people first.
 */
import { createHash } from 'node:crypto'
import type { Tree } from './tree.ts'

/** The text of a file that has to exist. */
export function read(files: Tree, path: string): string {
  const text = files.get(path)
  if (text === undefined) throw new Error(`${path} is missing: it is one of the documents that the checks keep true`)
  return text
}

const difference = (expected: Iterable<string>, actual: Iterable<string>, say: (one: string) => string): string[] => {
  const present = new Set(actual)
  return [...new Set(expected)].filter((one) => !present.has(one)).map(say)
}

export function errorCodes(codes: readonly string[], document: string): string[] {
  const documented = [...document.matchAll(/^(?:#+\s+|\|\s*)`(?<code>[\w.:-]+)`/gm)].flatMap(
    (match) => match.groups?.['code'] ?? [],
  )
  return [
    ...difference(codes, documented, (code) => `${code} is not documented`),
    ...difference(documented, codes, (code) => `${code} is documented but does not exist`),
  ]
}

export function lifecycle(moves: Readonly<Record<string, readonly string[]>>, document: string): string[] {
  const inCode = Object.entries(moves).flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`))
  const diagrams = [...document.matchAll(/```mermaid\n(?<diagram>[\s\S]*?)```/g)].map((match) => match.groups?.['diagram'] ?? '')
  const drawn = [...diagrams.join('\n').matchAll(/^\s*(\w+)\s*-->\s*(\w+)/gm)].map((match) => `${match[1]} → ${match[2]}`)
  return [
    ...difference(inCode, drawn, (move) => `${move} is legal but not drawn`),
    ...difference(drawn, inCode, (move) => `${move} is drawn but not legal`),
  ]
}

export function guarantees(document: string, files: Tree): string[] {
  const rows = tableRows(document)
  const unproved = rows.filter((row) => proofsIn(row).length === 0).map((row) => `no test is named in: ${row}`)
  const wrong = rows.flatMap(proofsIn).flatMap(({ path, title }) => {
    const text = files.get(path)?.replaceAll('\\', '')
    if (text === undefined) return [`${path} does not exist`]
    return text.includes(title) ? [] : [`${path} has no test "${title}"`]
  })
  return rows.length === 0 ? ['the table of guarantees is empty'] : [...unproved, ...wrong]
}

const proofsIn = (row: string) =>
  [...row.matchAll(/`(?<path>[\w./-]+\.ts)`[^`"“]*["“](?<title>[^"”]+)["”]/g)].map((match) => ({
    path: match.groups?.['path'] ?? '',
    title: match.groups?.['title'] ?? '',
  }))

/** The rows of every table, without the headings (the line above the dashes) and the dashes. */
const tableRows = (document: string): string[] => {
  const lines = document.split('\n')
  const isDashes = (line: string | undefined) => /^\|[\s:|-]+\|\s*$/.test(line ?? '')
  return lines.filter((line, index) => line.startsWith('|') && !isDashes(line) && !isDashes(lines[index + 1]))
}

export function changelog(document: string): string[] {
  const first = /^## .*$/m.exec(document)?.[0]
  return first && /^## \[?Unreleased\]?/.test(first) ? [] : [`the first section is "${first}", not Unreleased`]
}

export function releasedMigrations(folder: string, files: Tree): string[] {
  const released = JSON.parse(read(files, `${folder}/released.json`)) as Record<string, string>
  return Object.entries(released).flatMap(([name, digest]) => {
    const text = files.get(`${folder}/${name}`)
    if (text === undefined) return [`${name} was released and is gone`]
    const actual = createHash('sha256').update(text).digest('hex')
    return actual === digest ? [] : [`${name} was released and has changed (sha256 ${actual}); write another migration instead`]
  })
}

/** Under the heading Dependencies each one has a row `| \`name\` | … | reason |`; a name may end in `*` for a family. */
export function dependencies(document: string, files: Tree): string[] {
  const section = /^## Dependencies[\s\S]*?(?=^## |(?![\s\S]))/m.exec(document)?.[0] ?? ''
  const rows = tableRows(section).flatMap((row) => {
    const [name = '', ...cells] = row.split('|').slice(1, -1)
    const names = [...name.matchAll(/`(?<name>[@\w./*-]+)`/g)].flatMap((match) => match.groups?.['name'] ?? [])
    return names.map((one) => ({ name: one, explained: (cells.at(-1) ?? '').trim().length > 10 }))
  })
  const covers = (row: string, name: string) => (row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : row === name)
  const used = [...files].filter(([file]) => /(?:^|\/)package\.json$/.test(file)).flatMap(([file, text]) => namedIn(file, text))
  const missing = used.filter(({ name }) => !rows.some((row) => row.explained && covers(row.name, name)))
  const stale = rows.filter((row) => !used.some(({ name }) => covers(row.name, name)))
  return [
    ...missing.map(({ name, file }) => `${name} (${file}) is used without a reason in CONTRIBUTING.md`),
    ...stale.map(({ name }) => `${name} is explained in CONTRIBUTING.md but used nowhere`),
  ]
}

const namedIn = (file: string, text: string): { name: string; file: string }[] => {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(text) as Record<string, object>
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies })
  return names.filter((name) => !name.startsWith('@sluice/')).map((name) => ({ name, file }))
}
