/**
 * What people do with the command line, in the audit log like what they do over HTTP. They need no key: whoever reaches the database may. So the name is that of
 * the account on this machine.
 *
 * The database of a program with an engine of its own has no audit log; there is nothing to write into then.
 */
import { hostname, userInfo } from 'node:os'
import type { Engine } from '@sluice/engine'
import { Scrubber } from '../telemetry/scrubber.ts'
import type { Action } from './actions.ts'
import { Audit } from './audit.ts'
import type { Caller } from './caller.ts'

export interface CommandDeed {
  readonly action: Action
  readonly target: string | undefined
  readonly outcome: 'done' | 'failed'
  readonly detail?: Readonly<Record<string, unknown>>
}

const undefinedTable = '42P01'

export async function recordCommand(engine: Engine, { detail = {}, ...deed }: CommandDeed): Promise<void> {
  const caller: Caller = { kind: 'cli', role: 'admin', id: 'cli', name: accountName() }
  const entry = { ...deed, caller, address: hostname(), detail: { source: 'cli', ...detail } }
  await new Audit(engine, new Scrubber()).record(entry).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== undefinedTable) throw error
  })
}

/** An account need not have a name. */
function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
