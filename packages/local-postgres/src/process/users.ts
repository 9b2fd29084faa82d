/**
 * Users: who still needs the server, one small file each, so that the last one out can stop it.
 *
 * A user that was killed leaves its file behind; its identity shows that it is gone. Call these under the lock.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isAlive, parseIdentity } from './identity.ts'

export function register(folder: string): { leave(): void } {
  const users = join(folder, 'users')
  mkdirSync(users, { recursive: true })
  const file = join(users, randomUUID())
  writeFileSync(file, JSON.stringify(identify(process.pid)))
  return { leave: () => rmSync(file, { force: true }) }
}

export function isInUse(folder: string): boolean {
  const files = readdirSync(join(folder, 'users')).map((name) => join(folder, 'users', name))
  const left = files.filter((file) => !isAlive(parseIdentity(readFileSync(file, 'utf8'))))
  for (const file of left) rmSync(file, { force: true })
  return files.length > left.length
}
