/**
 * Copies the binaries' package to a shelf where the server's account can read it, once per version.
 *
 * The copy is made beside its final name and renamed, so that it is either complete or not there, and processes that copy
 * at the same time do no harm: the first rename wins.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { linkLibraries } from './library-links.ts'

export function copyPackage(packageFolder: string, shelf: string): string {
  const { name, version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Record<string, string>
  const copy = join(shelf, `postgres-${version}-${basename(name ?? '')}`)
  if (existsSync(copy)) return copy
  const draft = `${copy}.${randomUUID()}`
  try {
    if (mkdirSync(shelf, { recursive: true })) chmodSync(shelf, 0o755)
    mkdirSync(draft)
    cpSync(join(packageFolder, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    linkLibraries(draft)
    makeReadable(draft)
    putInPlace(draft, copy)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return copy
}

function putInPlace(draft: string, copy: string): void {
  try {
    renameSync(draft, copy)
  } catch (error) {
    if (!existsSync(copy)) throw error
  }
}

function makeReadable(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isSymbolicLink()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
  chmodSync(folder, 0o755)
}
