/**
 * Once a day the audit log forgets what is too old. It is kept for a year, or as long as finished jobs if that is longer.
 */
import { type AnyKind, defineKind, defineSchedule, type Schedule } from '@sluice/engine'
import type { Audit } from './audit.ts'

const keepDaysLeast = 365

export interface AuditUpkeep {
  readonly kind: AnyKind
  readonly schedule: Schedule
  /** Before the engine starts: the log stands on the engine, which is made with the kind. */
  bind(audit: Pick<Audit, 'prune'>): void
}

export function auditUpkeep({ keepDays }: { keepDays: number }): AuditUpkeep {
  let audit: Pick<Audit, 'prune'> | undefined
  const kind = defineKind('sluice.prune-audit', {
    async run({ log }): Promise<void> {
      if (!audit) throw new Error('The audit log was not bound before the engine started')
      const gone = await audit.prune({ keepDays: Math.max(keepDays, keepDaysLeast) })
      if (gone > 0) log('forgotten', { entries: gone })
    },
  })
  return {
    kind,
    schedule: defineSchedule('sluice.prune-audit', { cron: '50 2 * * *', job: kind({}), overlap: 'forbid' }),
    bind(given) {
      audit = given
    },
  }
}
