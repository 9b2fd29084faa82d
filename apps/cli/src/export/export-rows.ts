/**
 * Writes what was collected to standard output or into a file, as it comes. A file gets its name when it is whole: one that broke off is not taken for it.
 */
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExportWhat } from '@sluice/collector'
import { CommandError, codeOf, exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'
import { plain } from '../terminal/text.ts'
import { findUser } from '../users/find-user.ts'

export async function exportRows({ session, args: [login = ''], options }: Call): Promise<void> {
  const { collector } = await session.system({ collects: true })
  const user = await findUser(collector, login)
  const what = ((options['what'] as string | undefined) ?? 'commits') as ExportWhat
  const format = (options['format'] as 'jsonl' | 'csv' | undefined) ?? 'jsonl'
  const rows = Readable.from(collector.export(user.id, what, format))
  const out = options['out'] as string | undefined
  if (out === undefined) return pipeline(rows, untied(session.process.stdout))
  const part = `${out}.part`
  try {
    await pipeline(rows, createWriteStream(part))
    await rename(part, out)
  } catch (error) {
    await rm(part, { force: true })
    throw unwritable(error, out)
  }
  session.output.answer({ user: user.id, what, format, file: out }, () => `The ${what} of ${plain(user.login)} are in ${out}.`)
}

/** Standard output outlives the pipeline. */
function untied(stdout: NodeJS.WriteStream): Writable {
  return new Writable({ decodeStrings: false, write: (chunk: string, _encoding, done) => void stdout.write(chunk, done) })
}

function unwritable(error: unknown, file: string): unknown {
  const code = codeOf(error)
  if (!code || !['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EROFS', 'ENOSPC'].includes(code)) return error
  return new CommandError(exit.usage, 'OUT_FILE', `${file} cannot be written (${code}). Correct --out.`)
}
