/**
 * How access is set up, checked at the door.
 */
import { type Clock, SluiceError } from '@sluice/engine'
import { z } from 'zod'
import type { Scrubs } from './audit-detail.ts'

export interface AccessSettings {
  /** Without, callers on this machine need no key, and others are refused. */
  readonly requireKeys: boolean
  /** Whether browsers reach us by https. The cookie is then marked Secure. Default false. */
  readonly tls?: boolean
  /** How long a person stays signed in … Default 12 h. */
  readonly sessionMinutesMax?: number
  /** … and without doing anything. Default 2 h. */
  readonly sessionIdleMinutesMax?: number
  /** That of the log, so that what is hidden there is hidden in the audit log. Left out, only what looks like a secret is. */
  readonly scrubber?: Scrubs
  /** By which the limit on wrong keys forgets. */
  readonly clock?: Pick<Clock, 'monotonic'>
}

const schema = z
  .object({
    requireKeys: z.boolean({ error: 'say true or false' }),
    tls: z.boolean().default(false),
    sessionMinutesMax: z.int().min(1).max(525_600).default(720),
    sessionIdleMinutesMax: z.int().min(2, 'must be 2 or more: it is written down to the minute').max(525_600).default(120),
  })
  .readonly()

export type SettledAccess = z.output<typeof schema>

export function settleAccess(settings: AccessSettings): SettledAccess {
  const checked = schema.safeParse(settings)
  if (checked.success) return checked.data
  const issue = checked.error.issues[0]
  throw new SluiceError('INVALID_OPTION', { field: issue?.path.join('.') || 'access', problem: issue?.message ?? 'not usable' })
}
