/**
 * Who counts as what when a figure of ours is compared.
 */
import type { Entry } from '../contenders/roster.ts'
import type { Ground } from '../ground.ts'

type Belongs = (contender: string) => boolean

export const isPeer = (ground: Ground): Belongs => named(ground, ({ side }) => side === 'peer')

export const isPostgresPeer = (ground: Ground): Belongs =>
  named(ground, ({ side, store }) => side === 'peer' && store === 'postgres')

export const isBullmqOnRedis = (ground: Ground): Belongs => named(ground, ({ store }) => store === 'redis')

function named(ground: Ground, belongs: (entry: Ground['entries'][number]) => boolean): Belongs {
  const names = new Set(ground.entries.filter(belongs).map(({ name }) => name))
  return (contender) => names.has(contender)
}

/** Default settings never come near; on PostgreSQL BullMQ takes and stores one job at a time. */
export const isOutsider = ({ side, settings, name }: Entry): boolean =>
  side === 'peer' && (settings === 'default' || name.startsWith('bullmq-postgres'))
