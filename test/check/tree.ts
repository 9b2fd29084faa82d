/**
 * The project as text: path → content, for rules that read the whole tree.
 *
 * It walks the folders instead of asking git, so that a check gives the same answer in a clone owned by someone else, in an
 * unpacked archive and before the first `git add`. What `.gitignore` names is left out: it is simple names only, one a line.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path, relative to the root and with forward slashes → content. */
export type Tree = ReadonlyMap<string, string>

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const binary = /\.(?:png|jpe?g|gif|ico|woff2?|gz|zip|pdf)$/

export function readTree(folder = root): Tree {
  const ignored = new Set(['.git', ...ignoredNames(folder)])
  const isIgnored = (name: string) => ignored.has(name) || name.endsWith('.tsbuildinfo')
  const files = new Map<string, string>()
  const walk = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(directory, entry.name)
      if (isIgnored(entry.name) || binary.test(entry.name)) continue
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile()) files.set(relative(folder, path).replaceAll('\\', '/'), readFileSync(path, 'utf8'))
    }
  }
  walk(folder)
  return files
}

const ignoredNames = (folder: string): string[] =>
  readFileSync(join(folder, '.gitignore'), 'utf8')
    .split('\n')
    .map((line) => line.trim().replace(/\/$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#') && !line.includes('*'))
