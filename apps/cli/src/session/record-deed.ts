/**
 * Writes down what a command changed. One that never came to the database has changed nothing. An entry that is lost is told, and changes nothing about what was done.
 */
import { looksLikeToken } from '@sluice/collector'
import { recordCommand } from '@sluice/server'
import { CommandError, codeOf, type ExitCode, exit } from './exit.ts'
import type { Call, Leaf } from './tree.ts'

export interface Ended {
  /** Of a command that said how it went. */
  readonly code?: number | undefined
  readonly error?: unknown
}

/** With these nothing was done. With `failure` it was, and what was waited for went wrong. */
const undone: ReadonlySet<number> = new Set<ExitCode>([exit.usage, exit.notFound, exit.conflict, exit.unavailable])

export async function recordDeed({ deed }: Leaf, { args, options, session }: Omit<Call, 'program'>, ended: Ended): Promise<void> {
  const action = typeof deed === 'function' ? deed({ args, options }) : deed
  const engine = action && (await session.engine())
  if (!action || !engine) return
  const isDone = ended.error === undefined ? !undone.has(ended.code ?? exit.ok) : isWaiting(ended.error)
  const { reason } = options as { reason?: string }
  await recordCommand(engine, {
    action,
    target: args.map((arg) => (looksLikeToken(arg) ? '[redacted]' : arg)).join(' ') || undefined,
    outcome: isDone ? 'done' : 'failed',
    detail: {
      ...(reason === undefined ? {} : { reason }),
      ...(isDone ? {} : { code: codeOf(ended.error) ?? `exit ${ended.code}` }),
    },
  }).catch((error: unknown) => {
    // What was not done for the same reason needs no second word.
    if (isDone) session.output.warn(`The audit log has no entry of this: ${String(error)}`)
  })
}

/** It was started, and only the wait for its end was broken off. */
function isWaiting(error: unknown): boolean {
  return error instanceof CommandError && error.exitCode === exit.interrupted
}
