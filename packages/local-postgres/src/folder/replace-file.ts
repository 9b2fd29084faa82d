/**
 * Writes a small file so that it is there whole or not at all, and never through a link that somebody put in its place:
 * the text goes to a new file beside it, which is then renamed.
 */
import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function replaceFile(file: string, text: string): void {
  renameSync(writeDraft(dirname(file), text), file)
}

export function writeDraft(folder: string, text: string): string {
  const draft = join(folder, `draft.${randomUUID()}`)
  writeFileSync(draft, text, { flag: 'wx' })
  return draft
}
