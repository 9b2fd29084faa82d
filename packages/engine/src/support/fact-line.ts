/**
 * The line that a fact leaves in the log: fixed names and fields (docs/tracing-and-logs.md lists them). Pure. What there is nothing to say of is left out:
 * `console.log` would give each such field a line of its own.
 */
import type { Fact } from './fact.ts'
import type { Log } from './log.ts'

export interface Line {
  readonly level: keyof Log & ('debug' | 'info' | 'warn' | 'error')
  readonly event: string
  readonly fields: Record<string, unknown>
}

/** Nothing for facts that somebody else's line tells already. */
export function lineOf(fact: Fact): Line | undefined {
  const line = toldOf(fact)
  return line && { ...line, fields: Object.fromEntries(Object.entries(line.fields).filter(([, value]) => value !== undefined)) }
}

function toldOf(fact: Fact): Line | undefined {
  const { type: _, ...fields } = fact
  switch (fact.type) {
    case 'job.enqueued':
    case 'job.started':
      return undefined
    case 'job.ended': {
      const { job, kind, attempt, ranMs, run, trace, error } = fact
      const ms = ranMs === undefined ? undefined : Math.round(ranMs * 10) / 10
      return { ...endLines[fact.outcome], fields: { job, kind, attempt, ms, run, trace, error } }
    }
    case 'job.rescued':
      return { level: 'warn', event: 'job rescued', fields }
    case 'lane.held':
      return { level: 'info', event: 'lane held', fields }
    case 'run.ended':
      return { level: fact.state === 'failed' ? 'warn' : 'info', event: 'run ended', fields }
    case 'promoter.slept':
      return { level: 'debug', event: 'promoter slept', fields }
    case 'promoter.promoted':
      return { level: 'info', event: 'promoter promoted', fields }
    case 'leader.changed':
      return { level: 'info', event: fact.leads ? 'leading' : 'leadership lost', fields: { term: fact.term } }
    case 'dispatch.changed':
      return { level: fact.by === 'redis' ? 'info' : 'warn', event: 'dispatch changed', fields }
    case 'dispatch.taken-over':
      return { level: 'info', event: 'dispatch taken over', fields }
    case 'schedule.fired':
      return { level: 'info', event: 'schedule fired', fields }
    case 'event.published':
      return { level: 'debug', event: 'event published', fields }
  }
}

const endLines: Readonly<Record<(Fact & { type: 'job.ended' })['outcome'], Omit<Line, 'fields'>>> = {
  done: { level: 'info', event: 'job done' },
  retry: { level: 'warn', event: 'job retried' },
  snooze: { level: 'info', event: 'job snoozed' },
  failed: { level: 'error', event: 'job failed' },
  canceled: { level: 'info', event: 'job canceled' },
  'handed back': { level: 'info', event: 'job handed back' },
  stale: { level: 'warn', event: 'job was no longer ours' },
}
