/**
 * Starts the watcher of a test server: in a session of its own, where the terminal's signals do not reach it, and held by
 * nothing but a pipe that ends with this process. It takes no part in how this process ends: no handlers, no waiting.
 *
 * It is run from `dist`, because Node 20 does not read TypeScript.
 */
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serverEnvironment } from '../server/environment.ts'

export interface Watcher {
  /** Ends it without its doing anything. */
  dismiss(): Promise<void>
}

/** The data folder is the first of the folders. */
export function startWatcher(folders: readonly string[]): Watcher {
  const program = fileURLToPath(new URL('../../dist/testing/watcher.js', import.meta.url))
  const child = spawn(process.execPath, [program, ...folders], {
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  child.unref()
  const pipe = child.stdin as Socket
  pipe.unref()
  return {
    dismiss() {
      child.ref()
      child.kill('SIGKILL')
      return gone
    },
  }
}
