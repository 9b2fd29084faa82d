/**
 * Lock counter: a program that adds one to a number in a file, many times, each time under the lock. Read and write are
 * apart, so two holders at once would lose an addition.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { withLock } from '../process/lock.ts'

const [folder = '', file = '', times = '0'] = process.argv.slice(2)

for (let turn = 0; turn < Number(times); turn += 1) {
  await withLock(folder, async () => {
    const count = Number(readFileSync(file, 'utf8'))
    await new Promise((resolve) => setImmediate(resolve))
    writeFileSync(file, String(count + 1))
  })
}
