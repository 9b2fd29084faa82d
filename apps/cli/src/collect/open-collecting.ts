/**
 * Who does the work: a worker that runs on this database already, or this process, if there is none that could. Then it is a worker and leads as long as
 * the command lasts, and makes the database if there is none.
 */
import type { Collector } from '@sluice/collector'
import type { Engine } from '@sluice/engine'
import { isOnlooker, type System, startRole } from '@sluice/server'
import { codeOf } from '../session/exit.ts'
import type { Session } from '../session/session.ts'

export interface Collecting {
  readonly engine: Engine
  readonly collector: Collector
  /** Whether this process does the work. */
  readonly alone: boolean
}

/** What a database lacks that nobody has worked on yet. */
const unprepared = new Set(['NO_DATABASE', 'SCHEMA_BEHIND'])

/** Whoever can only work with what is there already makes no database; `beforeMaking` may refuse to. */
export async function openCollecting(session: Session, beforeMaking?: () => Promise<void>): Promise<Collecting> {
  const system = await session.system({ collects: true, secrets: true }).catch(async (error: unknown) => {
    if (!beforeMaking || !unprepared.has(codeOf(error) ?? '')) throw error
    await beforeMaking()
    return undefined
  })
  if (system && (await othersWork(system))) return { engine: system.engine, collector: system.collector, alone: false }
  const config = await session.config()
  const { engine, collector, stop } = await startRole(
    'alone',
    { ...config, logLevel: session.debug ? 'info' : 'error' },
    { opening: session.takeAlong },
  )
  session.onEnd(stop)
  session.workWith(engine)
  return { engine, collector, alone: true }
}

async function othersWork({ engine }: System): Promise<boolean> {
  try {
    const workers = await engine.inspect.workers()
    const alive = workers.filter((one) => one.state === 'alive' && !isOnlooker(one))
    const known = alive.flatMap(({ kinds }) => kinds)
    return alive.some(({ leads }) => leads) && known.some((kind) => kind.startsWith('collector.'))
  } catch (error) {
    if (unprepared.has(codeOf(error) ?? '')) return false
    throw error
  }
}
