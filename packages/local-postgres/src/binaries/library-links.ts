/**
 * Library links: npm packages cannot carry symbolic links, so the binaries' package lists them in `pg-symlinks.json` and
 * makes them in an install script. Where scripts are off (`npm ci --ignore-scripts`, pnpm) we make them ourselves.
 *
 * The list has the real library as `source` and the missing name as `target`, both from the package's root and always in
 * one folder.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export const linkList = (packageFolder: string): string => join(packageFolder, 'native', 'pg-symlinks.json')

export function linkLibraries(packageFolder: string): void {
  const links = JSON.parse(readFileSync(linkList(packageFolder), 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    if (dirname(source) !== dirname(target)) throw new Error(`${target} and ${source} are not in one folder`)
    const link = join(packageFolder, target)
    if (!existsSync(link)) makeLink(basename(source), link)
  }
}

/** Another process may make the same link at the same moment; the result is the same. */
function makeLink(target: string, link: string): void {
  try {
    symlinkSync(target, link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
