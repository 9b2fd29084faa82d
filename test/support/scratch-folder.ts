/**
 * A folder for one test, gone afterwards. As a Vitest fixture: `base.extend<{ cwd: string }>({ cwd: scratchFolder })`.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
export async function scratchFolder({}: object, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-test-')))
  await use(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
