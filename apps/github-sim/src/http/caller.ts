/** Who calls, by token. A refusal costs the caller's address, not the account, whose budget a 401 says nothing about. */

import { hash8 } from '../oracle/oracle.ts'
import type { Reply } from '../rest/ask.ts'
import * as problems from '../rest/problems.ts'
import type { Simulation } from '../simulation.ts'
import type { Facts } from './incoming.ts'

export type Caller =
  | { readonly type: 'anonymous'; readonly payer: string }
  | { readonly type: 'account'; readonly payer: number; readonly accountId: number; readonly mayRead: boolean }
  | { readonly type: 'refused'; readonly payer: string; readonly accountId: number | null; readonly reply: Reply }

export function identify(sim: Simulation, { token, api }: Pick<Facts, 'token' | 'api'>, address: string, now: number): Caller {
  if (token === undefined) return { type: 'anonymous', payer: address }
  const known = sim.tokens.find(token)
  const accountId = known?.accountId ?? null
  const who = accountId ?? hash8(token)
  const refuse = (reply: Reply): Caller => ({ type: 'refused', payer: address, accountId, reply })
  if (sim.loginAttempts.isLocked(who, now)) return refuse(problems.loginAttempts())
  if (!known || known.revoked) {
    sim.loginAttempts.fail(who, now)
    return refuse(problems.badCredentials(api))
  }
  if (sim.world.accounts.get(known.accountId)?.suspended) return refuse(problems.suspended())
  return { type: 'account', payer: known.accountId, accountId: known.accountId, mayRead: known.rights === 'all' }
}
