/**
 * Completes the lock files after a dependency was added or raised: `npm run build && node scripts/dist/complete-lock.js`.
 * `test/tidy.test.ts` says when it was forgotten.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { completeLock, type LockFile, missingEntries } from './lock-file.ts'

for (const path of ['package-lock.json', 'bench/package-lock.json']) {
  const file = new URL(`../../${path}`, import.meta.url)
  if (!existsSync(file)) continue
  const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile
  writeFileSync(file, `${JSON.stringify(completeLock(lock), null, 2)}\n`)
  console.log(`${path}: ${Object.keys(missingEntries(lock)).length} entries added`)
}
